package check

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Inputs say what is read.
type Inputs struct {
	// Paths are files and directories, and - for Stdin.
	Paths []string
	// Kustomize are directories with a kustomization, which are rendered.
	Kustomize []string
	// Exclude are globs as in a .gitignore.
	Exclude []string
	// Stdin is what - stands for, and StdinName the name of the file that reports give it.
	Stdin     io.Reader
	StdinName string
	// AllowNetwork lets kustomizations name remote bases, which takes git and the network.
	AllowNetwork bool
	// compared is whether there is a base.
	compared bool
	progress func(done, of int)
}

// found is what the inputs hold.
type found struct {
	objects []*object
	// passed counts the objects of other kinds by kind.
	passed   map[string]int
	files    int
	bytes    int
	total    int
	notices  []string
	problems []problem
	// compared is whether objects are compared with others.
	compared bool
	// progress is told how many files are done; nil when nobody listens.
	progress func(done, of int)
}

// of are the objects of a kind, in the order of the input.
func (f *found) of(kind string) []*object {
	var list []*object
	for _, o := range f.objects {
		if o.kind == kind {
			list = append(list, o)
		}
	}
	return list
}

// read finds the objects of the inputs in a tree. Inputs that cannot be read are among the problems; the error is for
// those that make no sense at all.
func (in *Inputs) read(ctx context.Context, from tree) (*found, error) {
	f := &found{passed: map[string]int{}, compared: in.compared, progress: in.progress}
	w := &walker{from: from, exclude: parseExcludes(in.Exclude), seen: map[string]bool{}, named: map[string]bool{}}
	for _, name := range in.Paths {
		if name == "-" {
			if err := f.stdin(ctx, in); err != nil {
				return nil, err
			}
			continue
		}
		if err := w.input(name); err != nil {
			f.problem(err)
		}
	}
	if err := w.follow(); err != nil {
		f.problem(err)
	}
	w.partial(f)
	f.readFiles(ctx, from, w.files)
	f.notices = append(f.notices, w.notices...)
	for i, dir := range in.Kustomize {
		if err := f.kustomize(ctx, from, dir, in.AllowNetwork, len(w.files)+i); err != nil {
			f.problem(err)
		}
	}
	slices.SortStableFunc(f.objects, func(a, b *object) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.document, b.document), cmp.Compare(a.marks.line, b.marks.line), cmp.Compare(a.marks.column, b.marks.column))
	})
	return f, ctx.Err()
}

func (f *found) problem(err error) {
	var p problem
	if !errors.As(err, &p) {
		p = problem{text: err.Error()}
	}
	f.problems = append(f.problems, p)
}

// input lists a file or directory that the command line names.
func (w *walker) input(name string) error {
	if name == "" {
		return problem{text: `"" names no file`}
	}
	info, err := w.from.stat(name)
	switch {
	case err != nil:
		return unreadable(name, err)
	case info.IsDir():
		return w.dir(name)
	case w.exclude.match(name, false):
		return nil
	}
	w.named[name] = true
	return w.add(name)
}

func (f *found) stdin(ctx context.Context, in *Inputs) error {
	if in.Stdin == nil {
		return errors.New("there is no standard input")
	}
	name := in.StdinName
	if name == "" {
		name = "<stdin>"
	}
	text, err := readStream(name, in.Stdin)
	if err != nil {
		f.problem(err)
		return nil
	}
	one := readText(name, text, -1)
	one.inspect(ctx, f.compared)
	f.add(&one)
	return nil
}

// part is what one file holds.
type part struct {
	objects []*object
	passed  map[string]int
	total   int
	bytes   int
	problem error
}

func (f *found) add(p *part) {
	f.objects = append(f.objects, p.objects...)
	for kind, n := range p.passed {
		f.passed[kind] += n
	}
	f.files++
	f.bytes += p.bytes
	f.total += p.total
	if p.problem != nil {
		f.problem(p.problem)
	}
}

// readFiles reads files side by side, and keeps their order.
func (f *found) readFiles(ctx context.Context, from tree, files []string) {
	parts := make([]part, len(files))
	tick := func() {}
	if f.progress != nil {
		tick = counter(f.progress, len(files))
	}
	var group errgroup.Group
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	const batch = 64
	for start := 0; start < len(files); start += batch {
		group.Go(func() error {
			for i := start; i < min(start+batch, len(files)) && ctx.Err() == nil; i++ {
				text, err := readAll(from, files[i])
				tick()
				if err != nil {
					parts[i].problem = err
					continue
				}
				parts[i] = readText(show(files[i]), text, i)
				parts[i].inspect(ctx, f.compared)
			}
			return nil
		})
	}
	_ = group.Wait() // the problems are in the parts
	for i := range parts {
		f.add(&parts[i])
	}
}

// readText finds the objects of a text.
func readText(name string, text []byte, order int) part {
	p := part{passed: map[string]int{}, bytes: len(text)}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !marked(text) && !veiled(text) {
		p.unread(text)
		for _, c := range compression[2:] {
			if bytes.HasPrefix(text, []byte(c.mark)) {
				p.problem = problem{file: name, text: c.is}
			}
		}
		return p
	}
	if p.problem = isText(name, text); p.problem != nil {
		return p
	}
	for _, doc := range split(text) {
		seen := marked(doc.text)
		if !seen && !veiled(doc.text) {
			p.unread(doc.text)
			continue
		}
		if err := p.document(name, doc, order); err != nil && seen {
			p.problem = err
			return p
		}
	}
	return p
}

// inspect looks at the objects, each of which is smaller after that.
func (p *part) inspect(ctx context.Context, digest bool) {
	for _, o := range p.objects {
		o.inspect(ctx, digest)
	}
}

// unread counts what passes by unread.
func (p *part) unread(text []byte) {
	for _, m := range kindLine.FindAllSubmatch(text, -1) {
		p.passed[string(m[1])]++
		p.total++
	}
}

func (p *part) document(name string, doc document, order int) error {
	nodes, err := parse(name, doc)
	if err != nil {
		return err
	}
	// A value needs two characters at least, unless an alias stands for it: much of little is refused.
	budget := min(maxValues, len(doc.text)+spareValues)
	for i, n := range nodes {
		objects, err := objectsIn(name, doc.number+i, n, &budget, func(kind string) {
			p.total++
			if kind != "" {
				p.passed[kind]++
			}
		})
		if err != nil {
			return err
		}
		for _, o := range objects {
			o.order = order
		}
		p.total += len(objects)
		p.objects = append(p.objects, objects...)
	}
	return nil
}

// nothing says what the inputs hold instead of what is looked for.
func (f *found) nothing() string {
	var kinds []string
	for kind, n := range f.passed {
		kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(kinds)
	const most = 8
	if len(kinds) > most {
		kinds = append(kinds[:most], "...")
	}
	switch {
	case f.files == 0:
		return "no ClusterExtension or ClusterCatalog found: there is no .yaml, .yml or .json file that is not ignored"
	case f.bytes == 0:
		return "no ClusterExtension or ClusterCatalog found: the input is empty"
	case len(kinds) == 0:
		return "no ClusterExtension or ClusterCatalog found: there is no Kubernetes object in the input"
	}
	return "no ClusterExtension or ClusterCatalog found among " + strings.Join(kinds, ", ")
}
