package check

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// revision is one commit of a repository, read out of its objects: neither the work tree nor the index is touched, and
// no program is started.
type revision struct {
	root    string
	objects *filesystem.Storage
	top     plumbing.Hash
	// mu guards the storage, which is not made for several readers, and dirs.
	mu   sync.Mutex
	dirs map[plumbing.Hash][]gitEntry
}

// gitEntry is a line of a tree.
type gitEntry struct {
	name string
	mode filemode.FileMode
	hash plumbing.Hash
}

// openRevision finds the repository that the current directory is in, and a commit in it.
func openRevision(rev string) (*revision, error) {
	wd, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	root := repositoryRoot(wd)
	if root == "" {
		return nil, fmt.Errorf("--base %s is no directory, and there is no git repository here to find that revision in", rev)
	}
	r := &revision{root: root, dirs: map[plumbing.Hash][]gitEntry{}}
	if r.objects, err = openStorage(filepath.Join(root, ".git")); err != nil {
		return nil, fmt.Errorf("opening the git repository in %s: %w", root, err)
	}
	commit, err := r.resolve(rev)
	if err != nil {
		return nil, fmt.Errorf("--base %s: %w", rev, err)
	}
	if r.top, _, err = r.commit(commit); err != nil {
		return nil, fmt.Errorf("--base %s: %w", rev, err)
	}
	return r, nil
}

// openStorage opens a .git, which may be a file that says where the directory is, as in a work tree or submodule.
func openStorage(dir string) (*filesystem.Storage, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		text, err := os.ReadFile(dir)
		if err != nil {
			return nil, err
		}
		to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
		if !ok {
			return nil, fmt.Errorf("%s is no directory and does not say where one is", dir)
		}
		if to = strings.TrimSpace(to); !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(dir), to)
		}
		dir = to
	}
	own := osfs.New(dir)
	common, err := os.ReadFile(filepath.Join(dir, "commondir"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return filesystem.NewStorage(own, cache.NewObjectLRUDefault()), nil
	case err != nil:
		return nil, err
	}
	to := strings.TrimSpace(string(common))
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	return filesystem.NewStorage(dotgit.NewRepositoryFilesystem(own, osfs.New(to)), cache.NewObjectLRUDefault()), nil
}

var (
	hexHash = regexp.MustCompile(`^[0-9a-f]{4,40}$`)
	suffix  = regexp.MustCompile(`^(.*?)((?:[~^][0-9]*)*)$`)
	step    = regexp.MustCompile(`[~^][0-9]*`)
)

// errNoRevision is for a revision that is not there.
var errNoRevision = errors.New("there is no such revision here; fetch it first, and all of its history if this is a shallow clone")

// resolve finds a commit by the name of a branch or tag, by a hash or its beginning, and by ~N and ^N behind one.
func (r *revision) resolve(rev string) (plumbing.Hash, error) {
	m := suffix.FindStringSubmatch(rev)
	name := m[1]
	if name == "" || name == "@" {
		name = "HEAD"
	}
	at, err := r.named(name)
	if err != nil {
		return at, err
	}
	if at, err = r.peel(at); err != nil {
		return at, err
	}
	for _, s := range step.FindAllString(m[2], -1) {
		n := 1
		if len(s) > 1 {
			if n, err = strconv.Atoi(s[1:]); err != nil || n > 100_000 {
				return at, errNoRevision
			}
		}
		if at, err = r.ancestor(at, s[0] == '^', n); err != nil {
			return at, err
		}
	}
	return at, nil
}

// ancestor is the nth parent of a commit, or the one n generations back along first parents.
func (r *revision) ancestor(at plumbing.Hash, nth bool, n int) (plumbing.Hash, error) {
	if nth && n == 0 {
		return at, nil
	}
	which, times := 0, n
	if nth {
		which, times = n-1, 1
	}
	for range times {
		_, parents, err := r.commit(at)
		if err != nil {
			return at, err
		}
		if which >= len(parents) {
			return at, errNoRevision
		}
		at = parents[which]
	}
	return at, nil
}

func (r *revision) named(name string) (plumbing.Hash, error) {
	for _, form := range []string{"%s", "refs/%s", "refs/tags/%s", "refs/heads/%s", "refs/remotes/%s", "refs/remotes/%s/HEAD"} {
		ref, err := storer.ResolveReference(r.objects, plumbing.ReferenceName(fmt.Sprintf(form, name)))
		if err == nil && !ref.Hash().IsZero() {
			return ref.Hash(), nil
		}
	}
	lower := strings.ToLower(name)
	if !hexHash.MatchString(lower) {
		return plumbing.ZeroHash, errNoRevision
	}
	if len(lower) == 40 {
		return plumbing.NewHash(lower), nil
	}
	prefix, err := hex.DecodeString(lower[:len(lower)/2*2])
	if err != nil {
		return plumbing.ZeroHash, errNoRevision
	}
	all, err := r.objects.HashesWithPrefix(prefix)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	var commits []plumbing.Hash
	for _, h := range all {
		if !strings.HasPrefix(h.String(), lower) {
			continue
		}
		if o, err := r.objects.EncodedObject(plumbing.AnyObject, h); err == nil && (o.Type() == plumbing.CommitObject || o.Type() == plumbing.TagObject) {
			commits = append(commits, h)
		}
	}
	switch len(commits) {
	case 0:
		return plumbing.ZeroHash, errNoRevision
	case 1:
		return commits[0], nil
	}
	return plumbing.ZeroHash, errors.New("several revisions begin so: give more of the hash")
}

// peel follows annotated tags to the commit.
func (r *revision) peel(at plumbing.Hash) (plumbing.Hash, error) {
	for range 16 {
		o, err := r.objects.EncodedObject(plumbing.AnyObject, at)
		if err != nil {
			return at, missingObject(err)
		}
		if o.Type() == plumbing.CommitObject {
			return at, nil
		}
		if o.Type() != plumbing.TagObject {
			break
		}
		fields, err := headers(o)
		if err != nil {
			return at, err
		}
		if len(fields["object"]) == 0 {
			break
		}
		at = plumbing.NewHash(fields["object"][0])
	}
	return at, errors.New("it is no commit")
}

func missingObject(err error) error {
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return errNoRevision
	}
	return err
}

// commit is the tree and the parents of a commit.
func (r *revision) commit(at plumbing.Hash) (top plumbing.Hash, parents []plumbing.Hash, err error) {
	o, err := r.objects.EncodedObject(plumbing.CommitObject, at)
	if err != nil {
		return top, nil, missingObject(err)
	}
	fields, err := headers(o)
	if err != nil {
		return top, nil, err
	}
	if len(fields["tree"]) != 1 {
		return top, nil, errors.New("its commit has no tree")
	}
	for _, p := range fields["parent"] {
		parents = append(parents, plumbing.NewHash(p))
	}
	return plumbing.NewHash(fields["tree"][0]), parents, nil
}

// headers are the lines above the message of a commit or tag.
func headers(o plumbing.EncodedObject) (map[string][]string, error) {
	in, err := o.Reader()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	fields := map[string][]string{}
	lines := bufio.NewScanner(io.LimitReader(in, 1<<20))
	for lines.Scan() && lines.Text() != "" {
		name, value, _ := strings.Cut(lines.Text(), " ")
		fields[name] = append(fields[name], value)
	}
	return fields, lines.Err()
}

// list reads a tree. Its entries are sorted by name.
func (r *revision) list(at plumbing.Hash) ([]gitEntry, error) {
	if list, ok := r.dirs[at]; ok {
		return list, nil
	}
	o, err := r.objects.EncodedObject(plumbing.TreeObject, at)
	if err != nil {
		return nil, missingObject(err)
	}
	text, err := bounded(o, 64<<20)
	if err != nil {
		return nil, err
	}
	var list []gitEntry
	for len(text) > 0 {
		head, rest, found := bytes.Cut(text, []byte{0})
		mode, name, ok := strings.Cut(string(head), " ")
		if !found || !ok || len(rest) < 20 {
			return nil, errors.New("a directory of the repository cannot be read")
		}
		m, err := filemode.New(mode)
		if err != nil {
			return nil, err
		}
		e := gitEntry{name: name, mode: m}
		copy(e.hash[:], rest)
		list, text = append(list, e), rest[20:]
	}
	r.dirs[at] = list
	return list, nil
}

func bounded(o plumbing.EncodedObject, most int64) ([]byte, error) {
	if o.Size() > most {
		return nil, fmt.Errorf("it has %d bytes, more than %d", o.Size(), most)
	}
	in, err := o.Reader()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, most))
}

// look finds what is at a path. Links are followed inside of the repository; the last one only when follow is set.
func (r *revision) look(op, name string, follow bool) (gitEntry, string, error) {
	notThere := &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	abs, err := filepath.Abs(name)
	if err != nil {
		return gitEntry{}, "", err
	}
	rel, err := filepath.Rel(r.root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return gitEntry{}, "", notThere
	}
	at := gitEntry{name: ".", mode: filemode.Dir, hash: r.top}
	clean := ""
	rest := strings.Split(filepath.ToSlash(rel), "/")
	if rel == "." {
		rest = nil
	}
	for links := 0; len(rest) > 0; {
		if at.mode != filemode.Dir {
			return at, "", notThere
		}
		list, err := r.list(at.hash)
		if err != nil {
			return at, "", &fs.PathError{Op: op, Path: name, Err: err}
		}
		next, ok := entryOf(list, rest[0])
		if !ok {
			return at, "", notThere
		}
		if next.mode == filemode.Symlink && (follow || len(rest) > 1) {
			o, err := r.objects.EncodedObject(plumbing.BlobObject, next.hash)
			if links++; err != nil || links > 40 {
				return at, "", notThere
			}
			to, err := bounded(o, 4096)
			joined := path.Join(clean, string(to))
			if err != nil || path.IsAbs(string(to)) || joined == ".." || strings.HasPrefix(joined, "../") {
				return at, "", notThere
			}
			rest = append(strings.Split(joined, "/"), rest[1:]...)
			if joined == "." {
				rest = rest[1:]
			}
			at, clean = gitEntry{name: ".", mode: filemode.Dir, hash: r.top}, ""
			continue
		}
		at, clean, rest = next, path.Join(clean, rest[0]), rest[1:]
	}
	return at, filepath.Join(r.root, filepath.FromSlash(clean)), nil
}

func entryOf(list []gitEntry, name string) (gitEntry, bool) {
	for _, e := range list {
		if e.name == name {
			return e, true
		}
	}
	return gitEntry{}, false
}

func (r *revision) stat(name string) (fs.FileInfo, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, _, err := r.look("stat", name, true)
	if err != nil {
		return nil, err
	}
	return gitInfo{e}, nil
}

func (r *revision) lstat(name string) (fs.FileInfo, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, _, err := r.look("lstat", name, false)
	if err != nil {
		return nil, err
	}
	return gitInfo{e}, nil
}

func (r *revision) readDir(name string) ([]fs.DirEntry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, _, err := r.look("open", name, true)
	if err != nil {
		return nil, err
	}
	if e.mode == filemode.Submodule {
		return nil, nil
	}
	list, err := r.list(e.hash)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	entries := make([]fs.DirEntry, len(list))
	for i := range list {
		entries[i] = fs.FileInfoToDirEntry(gitInfo{list[i]})
	}
	return entries, nil
}

func (r *revision) open(name string) (io.ReadCloser, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, _, err := r.look("open", name, true)
	if err != nil {
		return nil, err
	}
	o, err := r.objects.EncodedObject(plumbing.BlobObject, e.hash)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: missingObject(err)}
	}
	text, err := bounded(o, maxInput+1)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

func (r *revision) real(name string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, at, err := r.look("lstat", name, true)
	return at, err
}
