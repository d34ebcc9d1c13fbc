package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmgate/olmgate/config"
)

// repository makes a git repository of files and links ("-> target"), commits it, and makes it the current directory.
func repository(t *testing.T, files map[string]string) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git makes the repository")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, link := strings.CutPrefix(text, "-> "); link {
			err = os.Symlink(to, name)
		} else {
			err = os.WriteFile(name, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "all"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
}

const oneExtension = `apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: NAME}
spec: {namespace: a, source: {sourceType: Catalog, catalog: {packageName: a}}}
`

// TestARevisionIsReadLikeTheDisk removes the work tree, and finds in the revision what was there: links are followed
// inside of the repository and lead nowhere outside of it.
func TestARevisionIsReadLikeTheDisk(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte(strings.Replace(oneExtension, "NAME", "secret", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	named := func(name string) string { return strings.Replace(oneExtension, "NAME", name, 1) }
	repository(t, map[string]string{
		"apps/a.yaml": named("a"), "apps/deep/er/b.yaml": named("b"), "apps/.gitignore": "ignored.yaml\n",
		"apps/link.yaml": "-> ../shared/c.yaml", "shared/c.yaml": named("c"), "apps/out.yaml": "-> " + outside, "apps/up.yaml": "-> ../../../../../../etc/hostname",
		"apps/loop.yaml": "-> loop.yaml", "apps/dir": "-> ../shared", "apps/notes.txt": "ClusterExtension",
		"over/kustomization.yaml": "resources: [../apps/a.yaml, ../shared]\n", "shared/kustomization.yaml": "resources: [c.yaml]\n",
	})
	if err := os.RemoveAll("apps"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		in   Inputs
		want string
	}{
		{Inputs{Paths: []string{"apps"}}, "a b c"},
		{Inputs{Paths: []string{"."}}, "a b c"},
		{Inputs{Paths: []string{"apps/dir/c.yaml", "apps/../apps/a.yaml", "./apps/a.yaml"}}, "c a"},
		{Inputs{Paths: []string{"apps/out.yaml", "apps/up.yaml", "apps/loop.yaml", "../../etc/passwd", "nowhere"}}, ""},
		{Inputs{Kustomize: []string{"shared"}}, "c"},
	} {
		b, err := OpenBase("HEAD", tc.in)
		if err != nil {
			t.Fatal(err)
		}
		f, err := b.in.read(t.Context(), b.from)
		if err != nil || len(f.problems) > 0 {
			t.Fatal(err, f.problems)
		}
		var got []string
		for _, o := range f.objects {
			got = append(got, o.name)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%v: found %v, want %s", tc.in, got, tc.want)
		}
	}
}

// TestLargeFilesArePassedOver tells of a file below a directory that is too large, and refuses one that is named.
func TestLargeFilesArePassedOver(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, maxInput+1); err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), Options{Config: config.DefaultCheck(), Inputs: Inputs{Paths: []string{dir}}})
	if err != nil || r.Unreadable || len(r.Report.Notices) != 1 || !strings.Contains(r.Report.Notices[0], "larger than 32 MiB") {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = Run(t.Context(), Options{Config: config.DefaultCheck(), Inputs: Inputs{Paths: []string{big}}})
	if err != nil || !r.Unreadable {
		t.Errorf("%+v, %v", r, err)
	}
}
