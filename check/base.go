package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/olmgate/olmgate/resolver"
)

// Base is the state of the inputs that a plan compares with.
type Base struct {
	// Name is the revision or directory.
	Name string
	from tree
	in   Inputs
}

// OpenBase finds the inputs in a revision of the repository here, or in a directory: that is one that stands for the
// input when there is a single one, and otherwise has each under the path that the command line names.
func OpenBase(name string, in Inputs) (*Base, error) {
	b := &Base{Name: name, in: in}
	b.in.Paths, b.in.Kustomize = nil, nil
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		if b.from, err = openRevision(name); err != nil {
			return nil, err
		}
		return b, b.keep(in)
	}
	to, err := standIn(name, in)
	if err != nil {
		return nil, err
	}
	b.from = moved{to: to}
	return b, b.keep(in)
}

// keep takes the inputs that the base has; what is not there is no input of it.
func (b *Base) keep(in Inputs) error {
	for _, name := range in.Paths {
		if name == "-" {
			if in.StdinName == "" {
				return errors.New("--base cannot say what standard input was before: name its file by --stdin-filename, or check files")
			}
			name = in.StdinName
		}
		if _, err := b.from.stat(name); err == nil {
			b.in.Paths = append(b.in.Paths, name)
		}
	}
	for _, name := range in.Kustomize {
		if _, err := b.from.stat(name); err == nil {
			b.in.Kustomize = append(b.in.Kustomize, name)
		}
	}
	return nil
}

// standIn maps what the command line names into the directory of the base.
func standIn(base string, in Inputs) (func(string) string, error) {
	var inputs []string
	for _, name := range append(append([]string{}, in.Paths...), in.Kustomize...) {
		if name != "-" {
			inputs = append(inputs, filepath.Clean(name))
		}
	}
	if len(inputs) == 1 {
		if info, err := os.Stat(inputs[0]); err == nil && info.IsDir() {
			return func(name string) string { return below(inputs[0], base, name) }, nil
		}
	}
	for _, name := range inputs {
		if filepath.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
			return nil, fmt.Errorf("--base %s: of several inputs each must lie below the current directory, and %s does not", base, name)
		}
	}
	return func(name string) string { return below(".", base, name) }, nil
}

// below is a path that lies below dir, put below base.
func below(dir, base, name string) string {
	rel, err := filepath.Rel(dir, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return name
	}
	return filepath.Join(base, rel)
}

// base judges the inputs of the base.
func (o *Options) base(ctx context.Context, rule resolver.Rule) (*side, error) {
	in := o.Base.in
	in.Exclude, in.compared = o.Inputs.Exclude, true
	f, err := in.read(ctx, o.Base.from)
	if err != nil {
		return nil, err
	}
	s := &side{found: f, manifest: catalogsOf(f)}
	if s.catalogs, err = describe(ctx, o.Catalogs, s.manifest, nil, o.Pull); err != nil {
		return nil, err
	}
	j := &judge{catalogs: s.catalogs, config: &o.Config, rule: rule, schemaOnly: o.SchemaOnly}
	if o.Installed != nil {
		j.installed = o.installed(nil)
	}
	s.judged, err = j.all(ctx, f.objects)
	return s, err
}
