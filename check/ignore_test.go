package check

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestGitIgnoresTheSame compares with git itself.
func TestGitIgnoresTheSame(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git says what is right")
	}
	patterns := []string{
		"*.yaml", "/a.yaml", "a.yaml", "dir/", "dir", "/dir/", "dir/*", "dir/**", "**/a.yaml", "dir/**/a.yaml", "**/dir/a.yaml",
		"*.yaml\n!a.yaml", "dir/\n!dir/a.yaml", "dir/*\n!dir/a.yaml", "/*\n!/dir", "[ab].yaml", "[!a].yaml", "[^a].yaml", "[a-c].yaml",
		"?.yaml", "\\#x.yaml", "#x.yaml", "\\!a.yaml", "a.yaml ", "a.yaml\\ ", "**", "**/", "/**", "*", "d*r", "d?r/a.yaml", "a**l",
		"sub/dir", "dir/sub/", "!a.yaml", "", "  ", "/", "[", "[]a].yaml", "[a", "a.yaml\r", "\\a.yaml", "di[r", "[[:alpha:]].yaml", "*/a.yaml",
	}
	paths := []string{
		"a.yaml", "b.yaml", "#x.yaml", "!a.yaml", "dir/a.yaml", "dir/b.yaml", "dir/sub/a.yaml", "dir/sub/deep/a.yaml", "other/dir/a.yaml",
		"other/a.yaml", "sub/dir/a.yaml", "x.txt", "]a.yaml", "]x.yaml", "ab.yaml",
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, _ := cmd.Output() // nothing ignored sets the exit status
		return string(out)
	}
	git("init", "-q")
	for _, p := range paths {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, p), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range patterns {
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(p+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{}
		for _, line := range strings.Split(git(append([]string{"-c", "core.quotePath=false", "check-ignore", "--"}, paths...)...), "\n") {
			want[line] = true
		}
		rules := readIgnore(strings.NewReader(p+"\n"), "")
		for _, name := range paths {
			if got := ignoredAbove(rules, name); got != want[name] {
				t.Errorf("%q ignores %s: %v, git says %v", p, name, got, want[name])
			}
		}
	}
}

// ignoredAbove asks of a path and all directories above it, as a walk does.
func ignoredAbove(rules ignoreRules, name string) bool {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if above := path.Dir(at); above != "." && rules.ignores(above, true) {
			return true
		}
		if rules.ignores(at, true) {
			return true
		}
	}
	return rules.ignores(name, false)
}
