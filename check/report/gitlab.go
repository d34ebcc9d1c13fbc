package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

func init() { Register("gitlab", writeGitLab) }

// gitlabIssue is an entry of a code quality report. GitLab reads description, check_name, fingerprint, severity, path and
// the first line; the rest is for people and other readers of the format.
type gitlabIssue struct {
	Type        string         `json:"type"`
	CheckName   string         `json:"check_name"`
	Description string         `json:"description"`
	Content     gitlabContent  `json:"content"`
	Categories  []string       `json:"categories"`
	Severity    string         `json:"severity"`
	Fingerprint string         `json:"fingerprint"`
	Location    gitlabLocation `json:"location"`
}

type gitlabContent struct {
	Body string `json:"body"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
	End   int `json:"end,omitempty"`
}

// writeGitLab leaves out what the baseline accepts: GitLab shows every entry as an open issue.
func writeGitLab(w io.Writer, r *Report, _ Options) error {
	issues := []gitlabIssue{}
	seen := map[string]int{}
	for i := range r.Findings {
		f := &r.Findings[i]
		issue := gitlabIssue{
			Type: "issue", CheckName: f.Rule, Description: f.Rule + ": " + Clean(f.Message), Categories: []string{"Bug Risk"},
			Content:  gitlabContent{strings.Join(shownDetails(f), "\n")},
			Severity: gitlabSeverity(f.Level), Fingerprint: gitlabFingerprint(f.Fingerprint, seen),
			Location: gitlabLocation{repositoryPath(f.File), gitlabLines{max(1, f.Line), f.EndLine}},
		}
		issues = append(issues, issue)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(issues)
}

func gitlabSeverity(l Level) string {
	switch l {
	case Error:
		return "critical"
	case Warning:
		return "minor"
	}
	return "info"
}

// gitlabFingerprint tells findings of one fingerprint apart: GitLab shows only one of each.
func gitlabFingerprint(print string, seen map[string]int) string {
	seen[print]++
	if n := seen[print]; n > 1 {
		sum := sha256.Sum256([]byte(print + "\x00" + strconv.Itoa(n)))
		return hex.EncodeToString(sum[:16])
	}
	return print
}
