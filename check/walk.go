package check

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxFiles bounds how many files one run reads.
const maxFiles = 200_000

// maxDepth bounds how deep directories are read.
const maxDepth = 64

// walker lists the manifests below directories.
type walker struct {
	from    tree
	exclude excludes
	// files, links and kustomizations that were found.
	files  []string
	links  []string
	kustom []string
	// named are the files that were named themselves.
	named map[string]bool
	// seen are the files by their real paths.
	seen    map[string]bool
	notices []string
}

// problem is an input that cannot be read.
type problem struct {
	file string
	line int
	text string
}

func (p problem) Error() string {
	if p.line > 0 {
		return fmt.Sprintf("%s:%d: %s", p.file, p.line, p.text)
	}
	return p.file + ": " + p.text
}

func (w *walker) notice(format string, args ...any) {
	w.notices = append(w.notices, fmt.Sprintf(format, args...))
}

// dir lists the manifests of a directory and those below it.
func (w *walker) dir(name string) error {
	top, rules := w.above(name)
	return w.walk(name, top, rules, 0)
}

// above are the rules of the .gitignore files between the top of the repository and a directory, and how the directory
// is called from there.
func (w *walker) above(name string) (rel string, rules ignoreRules) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", nil
	}
	root := repositoryRoot(abs)
	if root == "" {
		return "", nil
	}
	rel, err = filepath.Rel(root, abs)
	if err != nil {
		return "", nil
	}
	rel = filepath.ToSlash(rel)
	if f, err := os.Open(filepath.Join(root, ".git", "info", "exclude")); err == nil {
		rules = readIgnore(f, "")
		_ = f.Close()
	}
	if rel == "." {
		return "", rules
	}
	at := ""
	for _, step := range strings.Split(rel, "/") {
		rules = append(rules, w.ignoreFile(filepath.Join(root, filepath.FromSlash(at)), at)...)
		at = path.Join(at, step)
	}
	return rel, rules
}

// repositoryRoot is the directory at or above a path that has .git, "" when there is none.
func repositoryRoot(abs string) string {
	for dir := abs; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
	}
}

func (w *walker) ignoreFile(dir, rel string) ignoreRules {
	name := filepath.Join(dir, ".gitignore")
	if info, err := w.from.lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := w.from.open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	return readIgnore(f, rel)
}

// walk lists a directory, which is rel from the top of the repository.
func (w *walker) walk(dir, rel string, rules ignoreRules, depth int) error {
	if depth > maxDepth {
		return problem{file: show(dir), text: fmt.Sprintf("directories lie more than %d deep", maxDepth)}
	}
	entries, err := w.from.readDir(dir)
	if err != nil {
		return unreadable(dir, err)
	}
	rules = append(slices.Clip(rules), w.ignoreFile(dir, rel)...)
	if has(entries, "Chart.yaml") && has(entries, "templates") {
		w.notice("%s is a Helm chart, whose templates are passed over: check what it renders, by helm template %s | olmgate check -", show(dir), show(dir))
		entries = slices.DeleteFunc(slices.Clone(entries), func(e fs.DirEntry) bool { return e.Name() == "templates" })
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		below := path.Join(rel, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case rules.ignores(below, e.IsDir()) || w.exclude.match(name, e.IsDir()):
		case e.IsDir():
			if err := w.walk(name, below, rules, depth+1); err != nil {
				return err
			}
		case kustomizationName(e.Name()):
			w.kustom = append(w.kustom, name)
		case !manifestName(name):
		case e.Type()&fs.ModeSymlink != 0:
			w.links = append(w.links, name)
		case e.Type().IsRegular():
			if info, err := e.Info(); err == nil && info.Size() > maxInput {
				w.notice("%s is larger than %d MiB and is passed over", show(name), maxInput>>20)
				continue
			}
			if err := w.add(name); err != nil {
				return err
			}
		default:
			w.notice("%s is no regular file and is passed over", show(name))
		}
	}
	return nil
}

func has(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
}

// add adds a file, once.
func (w *walker) add(name string) error {
	key := name
	if at, err := w.from.real(name); err == nil {
		key = at
	}
	if w.seen[key] {
		return nil
	}
	if len(w.files) >= maxFiles {
		return problem{file: show(name), text: fmt.Sprintf("there are more than %d manifests: name directories below, or leave some out by --exclude", maxFiles)}
	}
	w.seen[key] = true
	w.files = append(w.files, name)
	return nil
}

// follow adds the files that links lead to, unless they are there already.
func (w *walker) follow() error {
	for _, name := range w.links {
		info, err := w.from.stat(name)
		switch {
		case err != nil:
			w.notice("%s is a link that leads nowhere and is passed over", show(name))
		case info.Mode().IsRegular():
			if err := w.add(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// manifestName reports whether a file below a directory is read.
func manifestName(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name)))
}

func kustomizationName(name string) bool {
	return name == "kustomization.yaml" || name == "kustomization.yml" || name == "Kustomization"
}

// show is a path as reports have it.
func show(name string) string { return filepath.ToSlash(filepath.Clean(name)) }

// unreadable says which file cannot be read, and why.
func unreadable(name string, err error) problem {
	why := err
	if at, ok := err.(*fs.PathError); ok { //nolint:errorlint // only the outermost is about this file
		why = at.Err
	}
	return problem{file: show(name), text: "cannot be read: " + why.Error()}
}

// readAll reads a file of bounded size.
func readAll(from tree, name string) ([]byte, error) {
	f, err := from.open(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer f.Close()
	return readStream(show(name), f)
}

func readStream(name string, in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil {
		return nil, unreadable(name, err)
	}
	if len(text) > maxInput {
		return nil, problem{file: name, text: fmt.Sprintf("is larger than %d MiB: split it", maxInput>>20)}
	}
	return text, nil
}
