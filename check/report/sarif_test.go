package report

import (
	"encoding/json"
	"strings"
	"testing"
)

func sarif(t *testing.T, r *Report) sarifRun {
	t.Helper()
	var log sarifLog
	if err := json.Unmarshal([]byte(render(t, "sarif", r, options)), &log); err != nil {
		t.Fatal(err)
	}
	return log.Runs[0]
}

// TestSARIFReferencesLead makes sure that rules and files are those that the results name. The module schematest
// validates the golden files.
func TestSARIFReferencesLead(t *testing.T) {
	r := sample(t)
	r.Findings[0].Rule = "NewerThanThisFormat"
	run := sarif(t, r)
	if want := len(r.Findings) + len(r.Accepted); len(run.Results) != want {
		t.Fatalf("%d results, want %d", len(run.Results), want)
	}
	for _, result := range run.Results {
		if got := run.Tool.Driver.Rules[result.RuleIndex].ID; got != result.RuleID {
			t.Errorf("rule %d is %s, want %s", result.RuleIndex, got, result.RuleID)
		}
		at := result.Locations[0].Physical.Artifact
		if got := run.Artifacts[*at.Index].Location.URI; got != at.URI {
			t.Errorf("artifact %d is %s, want %s", *at.Index, got, at.URI)
		}
	}
}

func TestSARIFSuppressesWhatIsAccepted(t *testing.T) {
	for _, result := range sarif(t, sample(t)).Results {
		accepted := result.RuleID == "PackageNotFound"
		if (len(result.Suppressions) == 1) != accepted || result.Suppressions == nil {
			t.Errorf("%s: %+v", result.RuleID, result.Suppressions)
		}
	}
}

func TestSARIFFilesAreURIs(t *testing.T) {
	for file, want := range map[string]string{
		"./clusters/a b.yaml": "clusters/a%20b.yaml", "/abs/ü.yaml": "file:///abs/%C3%BC.yaml", "a:b.yaml": "./a:b.yaml", "50%.yaml": "50%25.yaml",
		"../x.yaml": "../x.yaml", "": ".",
	} {
		got := newSARIFPlace(file)
		if got.URI != want || (got.URIBaseID == "") != strings.HasPrefix(want, "file:") {
			t.Errorf("%q: %+v, want %s", file, got, want)
		}
	}
}

func TestSARIFSaysWhetherEverythingWasRead(t *testing.T) {
	if sarif(t, sample(t)).Invocations[0].Successful || !sarif(t, clean(t)).Invocations[0].Successful {
		t.Error("a run is successful unless a file cannot be read")
	}
}
