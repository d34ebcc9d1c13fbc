package report

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestGitLabHasWhatGitLabNeeds(t *testing.T) {
	var issues []gitlabIssue
	r := many(20)
	r.Findings = append(r.Findings, sample(t).Findings...)
	if err := json.Unmarshal([]byte(render(t, "gitlab", r, options)), &issues); err != nil {
		t.Fatal(err)
	}
	if len(issues) != len(r.Findings) {
		t.Fatalf("%d issues, want %d", len(issues), len(r.Findings))
	}
	seen := map[string]bool{}
	for _, i := range issues {
		if i.Description == "" || i.CheckName == "" || i.Fingerprint == "" || i.Location.Path == "" || i.Location.Lines.Begin < 1 {
			t.Errorf("something is missing: %+v", i)
		}
		if !slices.Contains([]string{"info", "minor", "major", "critical", "blocker"}, i.Severity) {
			t.Errorf("GitLab knows no severity %q", i.Severity)
		}
		if seen[i.Fingerprint] {
			t.Errorf("two issues of the fingerprint %s", i.Fingerprint)
		}
		seen[i.Fingerprint] = true
	}
}
