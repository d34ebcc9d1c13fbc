package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/olmgate/olmgate/catalog"
)

// Indexes are the packages that differ, by name; none when there is no difference that matters for resolution. Both
// have to be there.
func Indexes(before, after *catalog.Index) []Package {
	var all []Package
	pair(before.Packages(), after.Packages(), func(p *catalog.Package) string { return p.Name }, func(b, a *catalog.Package) {
		if p := comparePackages(b, a); p != nil {
			all = append(all, *p)
		}
	})
	return all
}

func comparePackages(before, after *catalog.Package) *Package {
	// Deprecations alone do not make a package.
	had, has := before.Contained(), after.Contained()
	b, a := sides(before, after)
	p := &Package{
		Name: cmp.Or(b.Name, a.Name), Change: Changed,
		DefaultChannel: values(b.DefaultChannel, a.DefaultChannel),
		Channels:       compareChannels(b.Channels, a.Channels),
		Bundles:        compareBundles(b.Bundles, a.Bundles),
		Deprecations:   compareDeprecations(b.Deprecations, a.Deprecations),
	}
	switch {
	case !had && has:
		p.Change = Added
	case had && !has:
		p.Change = Removed
	case p.DefaultChannel == nil && len(p.Channels)+len(p.Bundles)+len(p.Deprecations) == 0:
		return nil
	}
	return p
}

func compareChannels(before, after []catalog.Channel) []Channel {
	all := []Channel{}
	pair(before, after, func(c *catalog.Channel) string { return c.Name }, func(b, a *catalog.Channel) {
		change := changeOf(b, a)
		b, a = sides(b, a)
		c := Channel{Name: cmp.Or(b.Name, a.Name), Change: change, Entries: compareEntries(b.Entries, a.Entries)}
		if change != Changed || len(c.Entries) > 0 {
			all = append(all, c)
		}
	})
	return all
}

func compareEntries(before, after []catalog.Entry) []Entry {
	all := []Entry{}
	pair(before, after, func(e *catalog.Entry) string { return e.Name }, func(b, a *catalog.Entry) {
		change := changeOf(b, a)
		b, a = sides(b, a)
		e := Entry{
			Name: cmp.Or(b.Name, a.Name), Change: change,
			Replaces:  values(b.Replaces, a.Replaces),
			Skips:     lists(b.Skips, a.Skips),
			SkipRange: values(b.SkipRange, a.SkipRange),
		}
		if change != Changed || e.Replaces != nil || e.Skips != nil || e.SkipRange != nil {
			all = append(all, e)
		}
	})
	return all
}

func compareBundles(before, after []catalog.Bundle) []Bundle {
	all := []Bundle{}
	pair(before, after, func(b *catalog.Bundle) string { return b.Name }, func(b, a *catalog.Bundle) {
		x := Bundle{Change: changeOf(b, a), Version: values(version(b), version(a))}
		b, a = sides(b, a)
		x.Name = cmp.Or(b.Name, a.Name)
		x.Image = values(b.Image, a.Image)
		x.InstallModes = lists(modes(b.InstallModes), modes(a.InstallModes))
		x.GVKs = lists(gvks(b.GVKs), gvks(a.GVKs))
		x.Dependencies = lists(dependencies(b.Dependencies), dependencies(a.Dependencies))
		if x.Change != Changed || x.Version != nil || x.Image != nil || x.InstallModes != nil || x.GVKs != nil || x.Dependencies != nil {
			all = append(all, x)
		}
	})
	return all
}

// version is "" for a bundle that is not there.
func version(b *catalog.Bundle) string {
	switch {
	case b == nil:
		return ""
	case b.Problem != "":
		return "invalid: " + b.Problem
	case len(b.Release) > 0:
		return b.Version.String() + " (release " + b.Release.String() + ")"
	}
	return b.Version.String()
}

func modes(m catalog.InstallModes) []string {
	var all []string
	for _, mode := range []struct {
		bit  catalog.InstallModes
		name string
	}{
		{catalog.OwnNamespace, "OwnNamespace"}, {catalog.SingleNamespace, "SingleNamespace"},
		{catalog.MultiNamespace, "MultiNamespace"}, {catalog.AllNamespaces, "AllNamespaces"},
	} {
		if m&mode.bit != 0 {
			all = append(all, mode.name)
		}
	}
	return all
}

func gvks(list []catalog.GVK) []string {
	var all []string
	for _, g := range list {
		all = append(all, strings.TrimPrefix(g.Group+"/"+g.Version, "/")+" "+g.Kind)
	}
	return all
}

func dependencies(list []catalog.Property) []string {
	var all []string
	for _, p := range list {
		all = append(all, p.Type+" "+p.Value)
	}
	return all
}

func compareDeprecations(before, after []catalog.Deprecation) []Deprecation {
	name := func(d *catalog.Deprecation) string { return d.Schema + " " + d.Name }
	order := func(list []catalog.Deprecation) []catalog.Deprecation {
		return slices.SortedStableFunc(slices.Values(list), func(a, b catalog.Deprecation) int { return strings.Compare(name(&a), name(&b)) })
	}
	all := []Deprecation{}
	pair(order(before), order(after), name, func(b, a *catalog.Deprecation) {
		change := changeOf(b, a)
		b, a = sides(b, a)
		if change == Changed && b.Message == a.Message {
			return
		}
		all = append(all, Deprecation{
			Scope: scopes[cmp.Or(b.Schema, a.Schema)], Name: cmp.Or(b.Name, a.Name), Change: change,
			Message: Values{b.Message, a.Message},
		})
	})
	return all
}

var scopes = map[string]string{catalog.SchemaPackage: "Package", catalog.SchemaChannel: "Channel", catalog.SchemaBundle: "Bundle"}
