package check

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// root is the top of the module, seen from here.
const root = "../../.."

// good resolves in the catalogs of e2e, bad does not.
const (
	good = `apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata:
  name: kiln
spec:
  namespace: kiln
  source:
    sourceType: Catalog
    catalog:
      packageName: kiln-operator
      selector:
        matchLabels:
          olm.operatorframework.io/metadata.name: a
`
	noSuch = "kiln-operatorr"
)

var bad = strings.Replace(good, "kiln-operator\n", noSuch+"\n", 1)

// world is a repository with a manifest and a snapshot of catalogs, whose first commit has the good manifest.
type world struct {
	t             *testing.T
	dir, bin, top string
}

func newWorld(t *testing.T, manifest string) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("builds olmgate")
	}
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: t.TempDir(), bin: filepath.Dir(program), top: top}
	w.write("apps/kiln.yaml", good)
	w.must(w.run(nil, program, "catalog", "snapshot", "--catalog", "a="+filepath.Join(top, "e2e/testdata/catalogs/a.yaml"), "-o", "catalogs.olmgate"))
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "first"}} {
		w.must(w.run(nil, "git", args...))
	}
	w.write("apps/kiln.yaml", manifest)
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	file := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// run runs a program in the repository, with olmgate in its path, and returns what it prints and its exit status.
func (w *world) run(env []string, name string, args ...string) (string, int) {
	w.t.Helper()
	if name == "olmgate" {
		name = filepath.Join(w.bin, name)
	}
	cmd := exec.CommandContext(w.t.Context(), name, args...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "PATH="+w.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (w *world) must(out string, status int) {
	w.t.Helper()
	if status != 0 {
		w.t.Fatalf("exit status %d: %s", status, out)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(read(t, file)), into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "olmgate-check-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

// binary builds olmgate, once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	program := filepath.Join(scratch, "olmgate")
	cmd := exec.CommandContext(context.Background(), "go", "build", "-o", program, "./cmd/olmgate")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building olmgate: %w: %s", err, out)
	}
	return program, nil
})

// TestFlagsExist looks for every flag that a file uses in the help of olmgate check.
func TestFlagsExist(t *testing.T) {
	w := newWorld(t, good)
	help, _ := w.run(nil, "olmgate", "check", "--help")
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^ +(?:(-\w), +)?(--[a-z-]+)`).FindAllStringSubmatch(help, -1) {
		known[m[1]], known[m[2]] = true, true
	}
	for _, file := range []string{"../../../.pre-commit-hooks.yaml", "../../../action.yml", "gitlab-ci.yml", "tekton-task.yaml", "argocd-presync.yaml", "../../krew/olmgate.yaml"} {
		n := 0
		for line := range strings.Lines(read(t, file)) {
			if strings.HasPrefix(strings.TrimSpace(line), "#") || regexp.MustCompile(`\[ -|go (build|install)`).MatchString(line) && !strings.Contains(line, "args+=") {
				continue
			}
			for _, m := range regexp.MustCompile(`(?:^|[\s"'(])(--[a-z][a-z-]+|-[ok])\b`).FindAllStringSubmatch(line, -1) {
				if n++; !known[m[1]] {
					t.Errorf("%s: olmgate check has no flag %s: %s", file, m[1], line)
				}
			}
		}
		if n == 0 {
			t.Errorf("%s uses no flags, or this test does not see them", file)
		}
	}
}

func TestPreCommitHooks(t *testing.T) {
	var hooks []struct {
		ID            string   `json:"id"`
		Name          string   `json:"name"`
		Description   string   `json:"description"`
		Entry         string   `json:"entry"`
		Args          []string `json:"args"`
		Language      string   `json:"language"`
		TypesOr       []string `json:"types_or"`
		PassFilenames *bool    `json:"pass_filenames"`
		RequireSerial bool     `json:"require_serial"`
	}
	decode(t, filepath.Join(root, ".pre-commit-hooks.yaml"), &hooks)
	if len(hooks) != 2 {
		t.Fatalf("%d hooks", len(hooks))
	}
	for _, h := range hooks {
		words := append(strings.Fields(h.Entry), h.Args...)
		if h.PassFilenames == nil || *h.PassFilenames {
			words = append(words, "apps/kiln.yaml")
		}
		for manifest, want := range map[string]int{good: 0, strings.Replace(good, "packageName", "package", 1): 1} {
			w := newWorld(t, manifest)
			w.write(".olmgate.yaml", "apiVersion: config.olmgate.dev/v1alpha1\nkind: CheckConfiguration\nsnapshots: [catalogs.olmgate]\n")
			if out, status := w.run(nil, words[0], words[1:]...); status != want {
				t.Errorf("%s: exit status %d, want %d: %s", h.ID, status, want, out)
			}
		}
	}
}

// action is what these tests know of a composite action.
type action struct {
	Name, Description, Author string
	Branding                  map[string]string
	Inputs                    map[string]struct{ Description, Default string }
	Outputs                   map[string]struct{ Description, Value string }
	Runs                      struct {
		Using string
		Steps []struct {
			Name, ID, Shell, Uses, Run string
			With, Env                  map[string]string
		}
	}
}

func TestTheActionRuns(t *testing.T) {
	var a action
	decode(t, filepath.Join(root, "action.yml"), &a)
	steps := a.Runs.Steps
	check := steps[len(steps)-1]
	for manifest, want := range map[string]int{good: 0, bad: 1} {
		w := newWorld(t, manifest)
		temp := t.TempDir()
		if err := os.Symlink(w.bin, filepath.Join(temp, "olmgate")); err != nil {
			t.Fatal(err)
		}
		inputs := map[string]string{"snapshot": "catalogs.olmgate", "base": "HEAD", "arguments": "--rule\nBundle"}
		env := []string{"RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + temp + "/out", "GITHUB_STEP_SUMMARY=" + temp + "/summary", "GITHUB_ACTION_PATH=" + w.top}
		for name, value := range check.Env {
			m := regexp.MustCompile(`^\$\{\{ inputs\.([a-z-]+) \}\}$`).FindStringSubmatch(value)
			if m == nil {
				t.Fatalf("%s is %s, and an input can be given safely only by the environment", name, value)
			}
			in, there := a.Inputs[m[1]]
			if !there {
				t.Fatalf("there is no input %s", m[1])
			}
			value = in.Default
			if v, given := inputs[m[1]]; given {
				value = v
			}
			env = append(env, name+"="+value)
		}
		out, status := w.run(env, "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", check.Run)
		if status != want || (want == 1) != strings.Contains(out, "::error file=apps/kiln.yaml,") {
			t.Errorf("exit status %d, want %d: %s", status, want, out)
		}
		outputs := read(t, temp+"/out")
		for name := range a.Outputs {
			if !strings.Contains(outputs, name+"=") {
				t.Errorf("the output %s is missing in %s", name, outputs)
			}
		}
		if !strings.Contains(outputs, fmt.Sprintf("status=%d\n", want)) || !strings.Contains(read(t, temp+"/summary"), "### olmgate check") {
			t.Errorf("wrong outputs or no summary: %s", outputs)
		}
	}
}

func TestNoInputReachesAScript(t *testing.T) {
	var a action
	decode(t, filepath.Join(root, "action.yml"), &a)
	for _, s := range a.Runs.Steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("%s: an expression in a script lets its value run commands", s.Name)
		}
	}
}

func TestTheGitLabJobRuns(t *testing.T) {
	var file map[string]struct {
		Stage, Image string
		Variables    map[string]string
		Rules        []map[string]string
		Script       []string
		AllowFailure struct {
			ExitCodes []int `json:"exit_codes"`
		} `json:"allow_failure"`
		Artifacts struct {
			When     string
			ExposeAs string `json:"expose_as"`
			Paths    []string
			Reports  map[string]string
		}
	}
	decode(t, "gitlab-ci.yml", &file)
	job := file["olmgate-check"]
	for manifest, want := range map[string]int{good: 0, bad: 1} {
		w := newWorld(t, manifest)
		env := []string{"CI_MERGE_REQUEST_DIFF_BASE_SHA=HEAD"}
		for name, value := range job.Variables {
			env = append(env, name+"="+value)
		}
		env = append(env, "OLMGATE_ARGUMENTS=--offline --snapshot=catalogs.olmgate")
		out, status := w.run(env, "bash", "-c", job.Script[len(job.Script)-1])
		if status != want {
			t.Errorf("exit status %d, want %d: %s", status, want, out)
		}
		for _, report := range append(job.Artifacts.Paths, job.Artifacts.Reports["codequality"], job.Artifacts.Reports["junit"]) {
			if text := w.read(report); (want == 1) != strings.Contains(text, "PackageNotFound") {
				t.Errorf("%s: %s", report, text)
			}
		}
	}
}

func TestTheTektonTaskRuns(t *testing.T) {
	var task struct {
		APIVersion string `json:"apiVersion"`
		Kind       string
		Metadata   struct {
			Name   string
			Labels map[string]string
		}
		Spec struct {
			Description string
			Params      []struct {
				Name, Description, Type string
				Default                 any
			}
			Workspaces []struct{ Name, Description string }
			Steps      []struct {
				Name, Image      string
				WorkingDir       string `json:"workingDir"`
				Args             []string
				ComputeResources corev1.ResourceRequirements
				SecurityContext  corev1.SecurityContext
			}
		}
	}
	decode(t, "tekton-task.yaml", &task)
	step := task.Spec.Steps[0]
	for manifest, want := range map[string]int{good: 0, bad: 1} {
		w := newWorld(t, manifest)
		replace := strings.NewReplacer("$(params.reports)", w.dir, "$(workspaces.source.path)", w.dir)
		var args []string
		for _, a := range step.Args {
			switch a {
			case "$(params.arguments[*])":
				args = append(args, "--snapshot=catalogs.olmgate")
			case "$(params.paths[*])":
				args = append(args, "apps")
			default:
				args = append(args, replace.Replace(a))
			}
		}
		if out, status := w.run(nil, "olmgate", args...); status != want || strings.Contains(strings.Join(args, " "), "$(") {
			t.Errorf("%v: exit status %d, want %d: %s", args, status, want, out)
		}
	}
	restricted(t, &step.SecurityContext, step.SecurityContext.SeccompProfile)
}

// restricted is what the Pod security standard of that name asks for.
func restricted(t *testing.T, c *corev1.SecurityContext, seccomp *corev1.SeccompProfile) {
	t.Helper()
	if c.AllowPrivilegeEscalation == nil || *c.AllowPrivilegeEscalation || c.RunAsNonRoot == nil || !*c.RunAsNonRoot ||
		c.Capabilities == nil || !slices.Contains(c.Capabilities.Drop, "ALL") || seccomp == nil || seccomp.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("the container may do more than it needs: %+v", c)
	}
}

func TestTheArgoCDJobRuns(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, batchv1.AddToScheme, rbacv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	strict := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	var job *batchv1.Job
	for _, text := range strings.Split(read(t, "argocd-presync.yaml"), "\n---\n") {
		object, _, err := strict.Decode([]byte(text), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if j, is := object.(*batchv1.Job); is {
			job = j
		}
		meta := object.(interface{ GetAnnotations() map[string]string }).GetAnnotations()
		if meta["argocd.argoproj.io/hook"] != "PreSync" || meta["argocd.argoproj.io/hook-delete-policy"] != "BeforeHookCreation" {
			t.Errorf("%T: %v", object, meta)
		}
	}
	pod := job.Spec.Template.Spec
	restricted(t, pod.Containers[0].SecurityContext, pod.SecurityContext.SeccompProfile)
	for manifest, want := range map[string]int{good: 0, bad: 1} {
		w := newWorld(t, manifest)
		// The ConfigMap is mounted as files that are links.
		if err := os.Symlink(filepath.Join(w.dir, "apps"), filepath.Join(w.dir, "..data")); err != nil {
			t.Fatal(err)
		}
		w.write("manifests/placeholder.txt", "")
		if err := os.Symlink("../..data/kiln.yaml", filepath.Join(w.dir, "manifests/kiln.yaml")); err != nil {
			t.Fatal(err)
		}
		var args []string
		for _, a := range pod.Containers[0].Args {
			// There is no cluster here; its catalogs are in the snapshot.
			args = append(args, strings.NewReplacer("/manifests", "manifests", "--installed=cluster", "--snapshot=catalogs.olmgate").Replace(a))
		}
		if out, status := w.run(nil, "olmgate", args...); status != want {
			t.Errorf("%v: exit status %d, want %d: %s", args, status, want, out)
		}
	}
}

// TestTheKustomizationOfTheDocsBuilds makes the ConfigMap that the Job for Argo CD mounts.
func TestTheKustomizationOfTheDocsBuilds(t *testing.T) {
	m := regexp.MustCompile("(?s)```yaml\n(apiVersion: kustomize.*?)```").FindStringSubmatch(read(t, filepath.Join(root, "docs/check-outputs.md")))
	if m == nil {
		t.Fatal("the page has no kustomization")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"kustomization.yaml": m[1], "kiln.yaml": good, "argocd-presync.yaml": read(t, "argocd-presync.yaml")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects.Resources() {
		if o.GetKind() == "ConfigMap" && o.GetName() == "olmgate-presync" && o.GetNamespace() == "olmgate-presync" &&
			o.GetAnnotations()["argocd.argoproj.io/hook"] == "PreSync" && o.GetDataMap()["kiln.yaml"] == good {
			return
		}
	}
	t.Error("there is no ConfigMap that the Job could mount")
}

func TestTheKrewManifestFits(t *testing.T) {
	var plugin struct {
		APIVersion string `json:"apiVersion"`
		Kind       string
		Metadata   struct{ Name string }
		Spec       struct {
			Version, Homepage, Description, Caveats string
			ShortDescription                        string `json:"shortDescription"`
			Platforms                               []struct {
				Selector struct {
					MatchLabels map[string]string `json:"matchLabels"`
				}
				URI, SHA256, Bin string
			}
		}
	}
	const file = "../../krew/olmgate.yaml"
	decode(t, file, &plugin)
	s := plugin.Spec
	if plugin.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || plugin.Kind != "Plugin" || plugin.Metadata.Name+".yaml" != filepath.Base(file) {
		t.Errorf("%s %s %s", plugin.APIVersion, plugin.Kind, plugin.Metadata.Name)
	}
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(s.Version) || len(s.ShortDescription) > 50 || strings.HasSuffix(s.ShortDescription, ".") {
		t.Errorf("%s %q", s.Version, s.ShortDescription)
	}
	architectures := strings.Fields(regexp.MustCompile(`(?m)^ARCHITECTURES := (.*)$`).FindStringSubmatch(read(t, filepath.Join(root, "Makefile")))[1])
	for i, p := range s.Platforms {
		if p.Selector.MatchLabels["os"] != "linux" || p.Selector.MatchLabels["arch"] != architectures[i] || p.Bin != "olmgate" ||
			!strings.HasSuffix(p.URI, s.Version+"/olmgate-linux-"+architectures[i]+".tar.gz") || !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(p.SHA256) {
			t.Errorf("%+v", p)
		}
	}
	if len(s.Platforms) != len(architectures) {
		t.Errorf("%d platforms, and olmgate is made for %v", len(s.Platforms), architectures)
	}
}

// TestItIsAPluginOfKubectl runs olmgate by the name that kubectl looks for.
func TestItIsAPluginOfKubectl(t *testing.T) {
	w := newWorld(t, good)
	if err := os.Symlink(filepath.Join(w.bin, "olmgate"), filepath.Join(w.dir, "kubectl-olmgate")); err != nil {
		t.Fatal(err)
	}
	out, status := w.run(nil, filepath.Join(w.dir, "kubectl-olmgate"), "check", "apps", "--snapshot", "catalogs.olmgate", "--offline")
	w.must(out, status)
}
