package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Annotations by which kustomize says where an object comes from.
const (
	originAnnotation    = "config.kubernetes.io/origin"
	kustomizeAnnotation = "internal.config.kubernetes.io/"
)

// rendering keeps kustomize to one at a time: parts of it are not made for more.
var rendering sync.Mutex

// kustomize renders a directory and finds the objects in that.
func (f *found) kustomize(ctx context.Context, from tree, dir string, network bool, order int) error {
	if m, ok := from.(moved); ok {
		from, dir = m.disk, m.to(dir)
	}
	if !network {
		if err := refuseRemote(from, dir, map[string]bool{}, 0); err != nil {
			return err
		}
	}
	k := krusty.MakeKustomizer(krusty.MakeDefaultOptions())
	rendering.Lock()
	rendered, err := k.Run(&kustomizeFS{from: from, root: dir}, dir)
	rendering.Unlock()
	if err != nil {
		return problem{file: show(dir), text: "kustomize cannot render it: " + oneLine(err.Error())}
	}
	text, err := rendered.AsYaml()
	if err != nil {
		return problem{file: show(dir), text: "what kustomize renders cannot be written: " + oneLine(err.Error())}
	}
	if len(text) > maxInput {
		return problem{file: show(dir), text: fmt.Sprintf("what kustomize renders is larger than %d MiB", maxInput>>20)}
	}
	p := readText(show(dir), text, order)
	for _, o := range p.objects {
		o.source = origin(from, dir, o)
		stripOrigin(o)
	}
	p.inspect(ctx, f.compared)
	f.add(&p)
	return nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// origin is the object in a file that a rendered one was made of, nil when it cannot be told.
func origin(from tree, dir string, o *object) *object {
	text, _ := nested(o.content, "metadata", "annotations", originAnnotation).(string)
	var of struct{ Path, Repo string }
	if text == "" || yaml.Unmarshal([]byte(text), &of) != nil || of.Path == "" || of.Repo != "" {
		return nil
	}
	file := filepath.Join(dir, filepath.FromSlash(of.Path))
	raw, err := readAll(from, file)
	if err != nil {
		return nil
	}
	var same []*object
	for _, s := range readText(show(file), raw, 0).objects {
		if s.kind != o.kind {
			continue
		}
		if s.name == o.name {
			return s
		}
		if s.name != "" && strings.Contains(o.name, s.name) { // a prefix or suffix was added
			same = append(same, s)
		}
	}
	if len(same) == 1 {
		return same[0]
	}
	return nil
}

// stripOrigin takes away what kustomize adds for the search.
func stripOrigin(o *object) {
	annotations, _ := nested(o.content, "metadata", "annotations").(map[string]any)
	for name := range annotations {
		if name == originAnnotation || strings.HasPrefix(name, kustomizeAnnotation) {
			delete(annotations, name)
		}
	}
	if meta, ok := o.content["metadata"].(map[string]any); ok && annotations != nil && len(annotations) == 0 {
		delete(meta, "annotations")
	}
}

// nested is a value below keys, nil when it is not there.
func nested(v any, keys ...string) any {
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

// kustomization is what of a kustomization leads elsewhere.
type kustomization struct {
	Resources             []string `json:"resources"`
	Bases                 []string `json:"bases"`
	Components            []string `json:"components"`
	CRDs                  []string `json:"crds"`
	Configurations        []string `json:"configurations"`
	Generators            []string `json:"generators"`
	Transformers          []string `json:"transformers"`
	Validators            []string `json:"validators"`
	PatchesStrategicMerge []string `json:"patchesStrategicMerge"`
	Patches               []struct {
		Path string `json:"path"`
	} `json:"patches"`
	PatchesJSON6902 []struct {
		Path string `json:"path"`
	} `json:"patchesJson6902"`
	Replacements []struct {
		Path string `json:"path"`
	} `json:"replacements"`
	OpenAPI struct {
		Path string `json:"path"`
	} `json:"openapi"`
	ConfigMapGenerator []filesOf `json:"configMapGenerator"`
	SecretGenerator    []filesOf `json:"secretGenerator"`
}

type filesOf struct {
	Files []string `json:"files"`
	Envs  []string `json:"envs"`
	Env   string   `json:"env"`
}

// roots lead to directories or files, files to files alone.
func (k *kustomization) roots() []string {
	return slices.Concat(k.Resources, k.Bases, k.Components, k.Generators, k.Transformers, k.Validators)
}

// patches are files with parts of objects.
func (k *kustomization) patches() []string {
	list := slices.Clone(k.PatchesStrategicMerge)
	for _, p := range k.Patches {
		list = append(list, p.Path)
	}
	for _, p := range k.PatchesJSON6902 {
		list = append(list, p.Path)
	}
	return list
}

func (k *kustomization) files() []string {
	list := slices.Concat(k.CRDs, k.Configurations, k.patches(), []string{k.OpenAPI.Path})
	for _, r := range k.Replacements {
		list = append(list, r.Path)
	}
	for _, g := range slices.Concat(k.ConfigMapGenerator, k.SecretGenerator) {
		for _, f := range slices.Concat(g.Files, g.Envs, []string{g.Env}) {
			if _, value, keyed := strings.Cut(f, "="); keyed {
				f = value
			}
			list = append(list, f)
		}
	}
	return list
}

// remote reports whether kustomize takes a path for an address.
func remote(name string) bool {
	lower := strings.ToLower(name)
	if strings.Contains(lower, "://") || strings.HasPrefix(lower, "git::") {
		return true
	}
	if user, _, at := strings.Cut(lower, "@"); at && !strings.ContainsAny(user, "/.") {
		return true
	}
	return strings.HasPrefix(lower, "github.com/") || strings.HasPrefix(lower, "github.com:")
}

// errRemote is what is wrong with an address in a kustomization.
const errRemote = "%s is not here, and without --allow-network nothing is fetched: put it into the repository, or give that flag"

// refuseRemote makes sure that rendering a directory needs nothing from elsewhere: everything that the kustomizations
// name must lie in the tree.
func refuseRemote(from tree, dir string, seen map[string]bool, depth int) error {
	key := filepath.Clean(dir)
	switch {
	case seen[key]:
		return nil
	case depth > maxDepth:
		return problem{file: show(dir), text: fmt.Sprintf("kustomizations lead on more than %d times", maxDepth)}
	}
	seen[key] = true
	k, file, err := readKustomization(from, dir)
	if err != nil {
		return err
	}
	for _, name := range slices.Concat(k.roots(), k.files()) {
		if remote(name) {
			return problem{file: show(file), text: fmt.Sprintf(errRemote, name)}
		}
	}
	for _, name := range k.roots() {
		if strings.Contains(name, "\n") {
			continue // written out in the kustomization itself
		}
		at := filepath.Join(dir, filepath.FromSlash(name))
		if filepath.IsAbs(name) {
			at = name
		}
		info, err := from.stat(at)
		switch {
		case err != nil:
			return problem{file: show(file), text: fmt.Sprintf(errRemote, name)}
		case info.IsDir():
			if err := refuseRemote(from, at, seen, depth+1); err != nil {
				return err
			}
		}
	}
	return k.refuseRemotePlugins(from, dir, file)
}

// refuseRemotePlugins looks for addresses in what configures generators and transformers, which may name files too.
func (k *kustomization) refuseRemotePlugins(from tree, dir, file string) error {
	return refuseRemoteConfigs(from, dir, file, slices.Concat(k.Generators, k.Transformers, k.Validators), map[string]bool{})
}

// refuseRemoteConfigs looks at configurations: written out, in files, or made by the kustomization in a directory.
func refuseRemoteConfigs(from tree, dir, file string, names []string, seen map[string]bool) error {
	for _, name := range names {
		text := []byte(name)
		if !strings.Contains(name, "\n") {
			at := filepath.Join(dir, filepath.FromSlash(name))
			if filepath.IsAbs(name) {
				at = name
			}
			info, err := from.stat(at)
			if err != nil || seen[filepath.Clean(at)] {
				continue // kustomize says what is wrong with it
			}
			seen[filepath.Clean(at)] = true
			if info.IsDir() {
				k, file, err := readKustomization(from, at)
				if err != nil {
					return err
				}
				if err := refuseRemoteConfigs(from, at, file, slices.Concat(k.roots(), k.files()), seen); err != nil {
					return err
				}
				continue
			}
			if text, err = readAll(from, at); err != nil {
				return err
			}
		}
		if address := remoteIn(text); address != "" {
			return problem{file: show(file), text: fmt.Sprintf(errRemote, address)}
		}
	}
	return nil
}

// remoteIn is an address that stands anywhere in a text of YAML, "" when there is none.
func remoteIn(text []byte) string {
	for d := yamlv3.NewDecoder(bytes.NewReader(text)); ; {
		var doc yamlv3.Node
		if d.Decode(&doc) != nil {
			return ""
		}
		if address := remoteScalar(&doc); address != "" {
			return address
		}
	}
}

func remoteScalar(n *yamlv3.Node) string {
	if n.Kind == yamlv3.ScalarNode {
		for _, word := range strings.FieldsFunc(n.Value, func(r rune) bool { return r == '=' || r == ' ' || r == '\n' }) {
			if remote(word) {
				return word
			}
		}
	}
	for _, c := range n.Content {
		if address := remoteScalar(c); address != "" {
			return address
		}
	}
	return ""
}

// KustomizationDirs are the directories that the kustomization in one is made of, itself included.
func KustomizationDirs(dir string) []string {
	seen := map[string]bool{}
	_ = refuseRemote(disk{}, dir, seen, 0) // what is wrong with it is found when it is rendered
	return slices.Sorted(maps.Keys(seen))
}

// readKustomization reads what leads elsewhere.
func readKustomization(from tree, dir string) (*kustomization, string, error) {
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		file := filepath.Join(dir, name)
		text, err := readAll(from, file)
		if err != nil {
			if info, statErr := from.stat(file); statErr == nil && !info.IsDir() {
				return nil, file, err
			}
			continue
		}
		k, err := parseKustomization(text)
		if err != nil {
			return nil, file, problem{file: show(file), text: "this is no kustomization: " + oneLine(err.Error())}
		}
		return k, file, nil
	}
	if _, err := from.stat(dir); err != nil {
		return nil, dir, unreadable(dir, err)
	}
	return nil, dir, problem{file: show(dir), text: "there is no kustomization.yaml in it"}
}

func parseKustomization(text []byte) (*kustomization, error) {
	var root yamlv3.Node
	if err := yamlv3.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	k := &kustomization{}
	// A part that is of another type is kustomize's to refuse.
	return k, yaml.Unmarshal(text, k)
}

// partial takes out the files that hold parts of objects: patches of the kustomizations that were found.
func (w *walker) partial(f *found) {
	patches := map[string]bool{}
	for _, file := range w.kustom {
		dir := filepath.Dir(file)
		text, err := readAll(w.from, file)
		if err != nil {
			continue
		}
		k, err := parseKustomization(text)
		if err != nil {
			continue
		}
		for _, name := range k.patches() {
			// What is a resource too is a whole object.
			if name != "" && !strings.Contains(name, "\n") && !slices.Contains(k.Resources, name) {
				patches[filepath.Join(dir, filepath.FromSlash(name))] = true
			}
		}
	}
	if len(patches) == 0 {
		return
	}
	before := len(w.files)
	w.files = slices.DeleteFunc(w.files, func(name string) bool { return patches[filepath.Clean(name)] && !w.named[name] })
	if n := before - len(w.files); n > 0 {
		f.notices = append(f.notices, fmt.Sprintf("patches of kustomizations are passed over (%d): -k DIR checks what a kustomization renders", n))
	}
}

// kustomizeFS is a tree as kustomize reads it. It cannot be written to. The kustomization at the root is told to note
// where objects come from.
type kustomizeFS struct {
	from tree
	root string
}

var errReadOnly = errors.New("nothing is written")

func (k *kustomizeFS) Create(string) (filesys.File, error) { return nil, errReadOnly }
func (k *kustomizeFS) Mkdir(string) error                  { return errReadOnly }
func (k *kustomizeFS) MkdirAll(string) error               { return errReadOnly }
func (k *kustomizeFS) RemoveAll(string) error              { return errReadOnly }
func (k *kustomizeFS) WriteFile(string, []byte) error      { return errReadOnly }
func (k *kustomizeFS) Open(string) (filesys.File, error)   { return nil, errReadOnly }

func (k *kustomizeFS) IsDir(name string) bool {
	info, err := k.from.stat(name)
	return err == nil && info.IsDir()
}

func (k *kustomizeFS) Exists(name string) bool {
	_, err := k.from.stat(name)
	return err == nil
}

func (k *kustomizeFS) ReadDir(name string) ([]string, error) {
	entries, err := k.from.readDir(name)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// CleanedAbs is the directory that a path leads to, without links, and the file in it.
func (k *kustomizeFS) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	real, err := k.from.real(name)
	if err != nil {
		return "", "", err
	}
	if k.IsDir(real) {
		return filesys.ConfirmedDir(real), "", nil
	}
	if !k.Exists(real) {
		return "", "", &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return filesys.ConfirmedDir(filepath.Dir(real)), filepath.Base(real), nil
}

func (k *kustomizeFS) Glob(pattern string) ([]string, error) {
	dir, last := filepath.Split(pattern)
	if strings.ContainsAny(dir, "*?[") {
		return nil, fmt.Errorf("the pattern %s has a wildcard before its last part", pattern)
	}
	names, err := k.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil, nil //nolint:nilerr // as filepath.Glob: what cannot be read has no match
	}
	var list []string
	for _, n := range names {
		if ok, err := path.Match(last, n); err != nil {
			return nil, err
		} else if ok {
			list = append(list, filepath.Join(dir, n))
		}
	}
	return list, nil
}

func (k *kustomizeFS) ReadFile(name string) ([]byte, error) {
	text, err := readAll(k.from, name)
	if err != nil {
		return nil, err
	}
	if kustomizationName(filepath.Base(name)) && k.sameDir(filepath.Dir(name)) {
		return noteOrigins(text), nil
	}
	return text, nil
}

func (k *kustomizeFS) sameDir(dir string) bool {
	a, err := k.from.real(dir)
	if err != nil {
		return false
	}
	b, err := k.from.real(k.root)
	return err == nil && a == b
}

// noteOrigins asks kustomize to note where objects come from.
func noteOrigins(text []byte) []byte {
	var k map[string]any
	if yaml.Unmarshal(text, &k) != nil || k == nil {
		return text // kustomize says what is wrong
	}
	wanted, _ := k["buildMetadata"].([]any)
	k["buildMetadata"] = append(slices.Clone(wanted), "originAnnotations")
	if slices.Contains(wanted, any("originAnnotations")) {
		return text
	}
	noted, err := yaml.Marshal(k)
	if err != nil {
		return text
	}
	return noted
}

func (k *kustomizeFS) Walk(name string, fn filepath.WalkFunc) error {
	info, err := k.from.lstat(name)
	if err != nil {
		return fn(name, nil, err)
	}
	return k.walk(name, info, fn, 0)
}

func (k *kustomizeFS) walk(name string, info os.FileInfo, fn filepath.WalkFunc, depth int) error {
	if err := fn(name, info, nil); err != nil || !info.IsDir() || depth > maxDepth {
		if errors.Is(err, filepath.SkipDir) && info.IsDir() {
			return nil
		}
		return err
	}
	entries, err := k.from.readDir(name)
	if err != nil {
		return fn(name, info, err)
	}
	for _, e := range entries {
		at := filepath.Join(name, e.Name())
		info, err := k.from.lstat(at)
		if err != nil {
			return err
		}
		if err := k.walk(at, info, fn, depth+1); err != nil {
			return err
		}
	}
	return nil
}
