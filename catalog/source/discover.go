package source

import (
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
)

// Discover finds the catalogs that files below dir describe, by name. dir may be "" when all are given by hand.
//
// Every ClusterCatalog manifest describes a catalog. The content of catalog NAME is NAME.jsonl, .json, .yaml or .yml,
// any of them with .zst or .gz behind it, or a directory NAME with FBC files in it. Content without a manifest is a
// catalog without labels at priority 0; a manifest without content is a catalog whose content is not at hand. A file
// whose first document has apiVersion and kind holds manifests, never content. Content given by hand comes before any
// that is found.
//
// A directory is content when it is named like a catalog whose manifest lies outside of it, or when nothing in it is a
// ClusterCatalog manifest or named like a catalog; of nested ones, the outermost is. Manifests inside are not looked for.
//
// What could mean two things is an error that names both files: two manifests of one name, two contents of one name.
// A file without a single byte is the content of an empty catalog, as is likely when whatever should write it has
// failed: it must not be missing from the answer unseen. A pipe is an error.
//
// An empty directory has no catalogs, and none are returned; it is an error when there is none in another.
func Discover(dir string, byHand ...ByHand) ([]Offline, error) {
	s := search{manifests: map[string]found{}, contents: map[string]string{}, hand: map[string]ByHand{}}
	for _, b := range byHand {
		if err := b.check(); err != nil {
			return nil, err
		}
		if first, twice := s.hand[b.Name]; twice {
			return nil, fmt.Errorf("content of catalog %q is given by hand twice: %s and %s", b.Name, first.from(), b.from())
		}
		s.hand[b.Name] = b
		s.contents[b.Name] = b.Path
	}
	if dir != "" {
		if err := s.below(dir); err != nil {
			return nil, fmt.Errorf("looking for catalogs below %s: %w", dir, err)
		}
	}
	all := s.offline()
	if len(all) == 0 {
		if list, err := os.ReadDir(dir); err == nil && len(list) == 0 {
			return nil, nil
		}
		return nil, fmt.Errorf("no catalog below %s: looked for ClusterCatalog manifests (.yaml, .json), for NAME.jsonl, .json or .yaml with a File-Based Catalog, also with .gz or .zst behind it, and for directories of such files", dir)
	}
	return all, nil
}

// found is a manifest and its file.
type found struct {
	cc   *ocv1.ClusterCatalog
	file string
}

// search is what was found so far.
type search struct {
	root      *entry
	manifests map[string]found
	contents  map[string]string
	hand      map[string]ByHand
}

func (s *search) below(dir string) error {
	var err error
	if s.root, err = grow(dir); err != nil {
		return err
	}
	if !s.root.dir {
		return fmt.Errorf("it is not a directory")
	}
	// Directories that outside manifests name come first: what is in them is out of the search from then on.
	if err := s.walk(s.root, s.takeNamed, s.takeManifests); err != nil {
		return err
	}
	return s.walk(s.root, s.takeUnnamed, s.takeContent)
}

// walk calls file for each file outside the directories that directory takes, which are pruned.
func (s *search) walk(e *entry, directory func(*entry) (bool, error), file func(*entry) error) error {
	kept := e.children[:0:0]
	for _, c := range e.children {
		if !c.dir {
			if err := file(c); err != nil {
				return err
			}
			kept = append(kept, c)
			continue
		}
		taken, err := directory(c)
		if err != nil {
			return err
		}
		if taken {
			continue
		}
		if err := s.walk(c, directory, file); err != nil {
			return err
		}
		kept = append(kept, c)
	}
	e.children = kept
	return nil
}

func (s *search) takeNamed(d *entry) (bool, error) {
	inside := d.declares(d.name)
	if s.root.declares(d.name) == 0 || !d.holdsFBC() {
		return false, nil
	}
	if inside > 0 {
		ownFile := d.any(func(c *entry) bool { return c != d && c.name == d.name && c.holdsFBC() })
		if !ownFile {
			return false, fmt.Errorf("%s holds a File-Based Catalog and the manifest of ClusterCatalog %q: move the manifest out of the directory with the content", d.path, d.name)
		}
		return false, nil
	}
	return true, s.content(d)
}

func (s *search) takeUnnamed(d *entry) (bool, error) {
	plain := !d.holdsFBC() || d.any(func(c *entry) bool {
		return len(c.catalogs) > 0 || c != d && s.named(c.name)
	})
	if plain {
		return false, nil
	}
	return true, s.content(d)
}

func (s *search) takeManifests(f *entry) error {
	for _, cc := range f.catalogs {
		if first, twice := s.manifests[cc.Name]; twice {
			return fmt.Errorf("ClusterCatalog %q is described twice: in %s and in %s", cc.Name, first.file, f.path)
		}
		s.manifests[cc.Name] = found{cc, f.path}
	}
	return nil
}

// takeContent also takes a file by its name alone, so that broken content of a known catalog is that catalog's problem.
func (s *search) takeContent(f *entry) error {
	switch {
	case f.found.class == classManifest:
		return nil
	case f.found.class == classFBC, f.found.class == classEmpty, s.named(f.name):
		return s.content(f)
	case f.found.class == classBroken:
		return fmt.Errorf("neither a manifest nor content: %w", f.found.err)
	}
	return nil
}

func (s *search) named(name string) bool {
	_, described := s.manifests[name]
	_, byHand := s.hand[name]
	return described || byHand
}

func (s *search) content(e *entry) error {
	if _, byHand := s.hand[e.name]; byHand {
		return nil
	}
	if first, twice := s.contents[e.name]; twice {
		return fmt.Errorf("content of catalog %q is there twice: %s and %s; remove one, or choose by --catalog %s=PATH", e.name, first, e.path, e.name)
	}
	if why := badName(e.name); why != "" {
		return fmt.Errorf("%s holds content of a catalog, but %q is no name of a ClusterCatalog (%s): rename it, or move it away and give it by --catalog NAME=PATH", e.path, e.name, why)
	}
	s.contents[e.name] = e.path
	return nil
}

// offline joins manifests and contents.
func (s *search) offline() []Offline {
	var all []Offline
	for name, m := range s.manifests {
		b, byHand := s.hand[name]
		all = append(all, Offline{Catalog: m.cc, Manifest: m.file, Path: s.contents[name], Image: b.Image, ByHand: byHand})
	}
	for name, path := range s.contents {
		if _, described := s.manifests[name]; described {
			continue
		}
		b, byHand := s.hand[name]
		all = append(all, Offline{Catalog: emptyCatalog(name), Path: path, Image: b.Image, ByHand: byHand})
	}
	sort.Slice(all, func(i, j int) bool { return strings.Compare(all[i].Catalog.Name, all[j].Catalog.Name) < 0 })
	return slices.Clip(all)
}
