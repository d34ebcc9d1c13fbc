package diff

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/olmgate/olmgate/catalog"
)

func read(t interface{ Fatal(...any) }, blobs ...string) *catalog.Index {
	x, err := catalog.Read(strings.NewReader(strings.Join(blobs, "\n")), catalog.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func pkg(name, channel string) string {
	return fmt.Sprintf(`{"schema":"olm.package","name":%q,"defaultChannel":%q}`, name, channel)
}

func channel(pkg, name, entries string) string {
	return fmt.Sprintf(`{"schema":"olm.channel","package":%q,"name":%q,"entries":[%s]}`, pkg, name, entries)
}

func bundle(pkg, name, version, image string, more ...string) string {
	properties := append([]string{fmt.Sprintf(`{"type":"olm.package","value":{"packageName":%q,"version":%q}}`, pkg, version)}, more...)
	return fmt.Sprintf(`{"schema":"olm.bundle","package":%q,"name":%q,"image":%q,"properties":[%s]}`, pkg, name, image, strings.Join(properties, ","))
}

func deprecated(pkg, entries string) string {
	return fmt.Sprintf(`{"schema":"olm.deprecations","package":%q,"entries":[%s]}`, pkg, entries)
}

func TestDifferences(t *testing.T) {
	base := []string{pkg("kiln", "stable"), channel("kiln", "stable", `{"name":"k1"},{"name":"k2","replaces":"k1","skips":["k0"],"skipRange":"<2.0.0"}`), bundle("kiln", "k1", "1.0.0", "i1"), bundle("kiln", "k2", "2.0.0", "i2")}
	with := func(i int, blob string) []string {
		list := slices.Clone(base)
		list[i] = blob
		return list
	}
	for name, c := range map[string]struct {
		before, after []string
		want          string
	}{
		"nothing":                      {base, base, `null`},
		"the order of blobs":           {base, []string{base[3], base[1], base[0], base[2]}, `null`},
		"what does not matter":         {base, append(with(0, `{"schema":"olm.package","name":"kiln","defaultChannel":"stable","description":"x"}`), `{"schema":"x"}`), `null`},
		"a package came":               {nil, []string{pkg("kiln", "a")}, `[{"name":"kiln","change":"Added","defaultChannel":{"old":"","new":"a"},"channels":[],"bundles":[],"deprecations":[]}]`},
		"a package went":               {[]string{pkg("kiln", "")}, nil, `[{"name":"kiln","change":"Removed","channels":[],"bundles":[],"deprecations":[]}]`},
		"the default channel changed":  {base, with(0, pkg("kiln", "fast")), `[{"name":"kiln","change":"Changed","defaultChannel":{"old":"stable","new":"fast"},"channels":[],"bundles":[],"deprecations":[]}]`},
		"an image changed":             {base, with(3, bundle("kiln", "k2", "2.0.0", "i3")), `[{"name":"kiln","change":"Changed","channels":[],"bundles":[{"name":"k2","change":"Changed","image":{"old":"i2","new":"i3"}}],"deprecations":[]}]`},
		"a version changed":            {base, with(3, bundle("kiln", "k2", "2.0.1", "i2")), `[{"name":"kiln","change":"Changed","channels":[],"bundles":[{"name":"k2","change":"Changed","version":{"old":"2.0.0","new":"2.0.1"}}],"deprecations":[]}]`},
		"a version became a release":   {base, with(3, bundle("kiln", "k2", "2.0.0+1", "i2")), `[{"name":"kiln","change":"Changed","channels":[],"bundles":[{"name":"k2","change":"Changed","version":{"old":"2.0.0","new":"2.0.0 (release 1)"}}],"deprecations":[]}]`},
		"a bundle came":                {base, append(slices.Clone(base), bundle("kiln", "k3", "3.0.0", "i3")), `[{"name":"kiln","change":"Changed","channels":[],"bundles":[{"name":"k3","change":"Added","version":{"old":"","new":"3.0.0"},"image":{"old":"","new":"i3"}}],"deprecations":[]}]`},
		"a bundle went":                {base, base[:3], `[{"name":"kiln","change":"Changed","channels":[],"bundles":[{"name":"k2","change":"Removed","version":{"old":"2.0.0","new":""},"image":{"old":"i2","new":""}}],"deprecations":[]}]`},
		"edges changed":                {base, with(1, channel("kiln", "stable", `{"name":"k1","replaces":"k0"},{"name":"k2","skips":["k1"],"skipRange":"<3.0.0"}`)), `[{"name":"kiln","change":"Changed","channels":[{"name":"stable","change":"Changed","entries":[{"name":"k1","change":"Changed","replaces":{"old":"","new":"k0"}},{"name":"k2","change":"Changed","replaces":{"old":"k1","new":""},"skips":{"added":["k1"],"removed":["k0"]},"skipRange":{"old":"<2.0.0","new":"<3.0.0"}}]}],"bundles":[],"deprecations":[]}]`},
		"the order of skips":           {[]string{channel("p", "c", `{"name":"a","skips":["x","y"]}`)}, []string{channel("p", "c", `{"name":"a","skips":["y","x"]}`)}, `null`},
		"an entry came, another went":  {base, with(1, channel("kiln", "stable", `{"name":"k2","replaces":"k1","skips":["k0"],"skipRange":"<2.0.0"},{"name":"k3"}`)), `[{"name":"kiln","change":"Changed","channels":[{"name":"stable","change":"Changed","entries":[{"name":"k1","change":"Removed"},{"name":"k3","change":"Added"}]}],"bundles":[],"deprecations":[]}]`},
		"a channel has another name":   {base, with(1, channel("kiln", "fast", "")), `[{"name":"kiln","change":"Changed","channels":[{"name":"fast","change":"Added","entries":[]},{"name":"stable","change":"Removed","entries":[{"name":"k1","change":"Removed"},{"name":"k2","change":"Removed","replaces":{"old":"k1","new":""},"skips":{"added":[],"removed":["k0"]},"skipRange":{"old":"<2.0.0","new":""}}]}],"bundles":[],"deprecations":[]}]`},
		"a deprecation came":           {base, append(slices.Clone(base), deprecated("kiln", `{"reference":{"schema":"olm.package"},"message":"old"}`)), `[{"name":"kiln","change":"Changed","channels":[],"bundles":[],"deprecations":[{"scope":"Package","name":"","change":"Added","message":{"old":"","new":"old"}}]}]`},
		"a deprecation alone came":     {nil, []string{deprecated("kiln", `{"reference":{"schema":"olm.channel","name":"c"},"message":""}`)}, `[{"name":"kiln","change":"Changed","channels":[],"bundles":[],"deprecations":[{"scope":"Channel","name":"c","change":"Added","message":{"old":"","new":""}}]}]`},
		"a deprecation went":           {[]string{pkg("p", ""), deprecated("p", `{"reference":{"schema":"olm.bundle","name":"b"},"message":"m"}`)}, []string{pkg("p", "")}, `[{"name":"p","change":"Changed","channels":[],"bundles":[],"deprecations":[{"scope":"Bundle","name":"b","change":"Removed","message":{"old":"m","new":""}}]}]`},
		"a deprecation says otherwise": {[]string{deprecated("p", `{"reference":{"schema":"olm.package"},"message":"m"}`)}, []string{deprecated("p", `{"reference":{"schema":"olm.package"},"message":"n"}`)}, `[{"name":"p","change":"Changed","channels":[],"bundles":[],"deprecations":[{"scope":"Package","name":"","change":"Changed","message":{"old":"m","new":"n"}}]}]`},
		"one of two of a name changed": {append(slices.Clone(base), bundle("kiln", "k2", "9.0.0", "x")), append(slices.Clone(base), bundle("kiln", "k2", "9.0.0", "y")), `[{"name":"kiln","change":"Changed","channels":[],"bundles":[{"name":"k2","change":"Changed","image":{"old":"x","new":"y"}}],"deprecations":[]}]`},
		"one of two of a name went":    {append(slices.Clone(base), bundle("kiln", "k2", "1.5.0", "x")), base, `[{"name":"kiln","change":"Changed","channels":[],"bundles":[{"name":"k2","change":"Removed","version":{"old":"1.5.0","new":""},"image":{"old":"x","new":""}}],"deprecations":[]}]`},
		"modes, APIs and dependencies": {
			[]string{bundle("p", "b", "1.0.0", "", `{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"K"}}`, `{"type":"olm.csv.metadata","value":{"installModes":[{"type":"AllNamespaces","supported":true}]}}`)},
			[]string{bundle("p", "b", "1.0.0", "", `{"type":"olm.package.required","value":{"packageName":"q","versionRange":">1"}}`, `{"type":"olm.csv.metadata","value":{"installModes":[{"type":"OwnNamespace","supported":true}]}}`)},
			`[{"name":"p","change":"Changed","channels":[],"bundles":[{"name":"b","change":"Changed","installModes":{"added":["OwnNamespace"],"removed":["AllNamespaces"]},"gvks":{"added":[],"removed":["g/v1 K"]},"dependencies":{"added":["olm.package.required {\"packageName\":\"q\",\"versionRange\":\">1\"}"],"removed":[]}}],"deprecations":[]}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := text(t, Indexes(read(t, c.before...), read(t, c.after...)))
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func text(t interface{ Fatal(...any) }, list []Package) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(list); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// some draws a small catalog of few names, so that two have much in common.
func some(t *rapid.T, label string) *catalog.Index {
	word := rapid.SampledFrom([]string{"a", "b"})
	blobs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		p := word.Draw(t, "package")
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return pkg(p, word.Draw(t, "default"))
		case 1:
			return channel(p, word.Draw(t, "channel"), fmt.Sprintf(`{"name":%q,"replaces":%q,"skips":[%q]}`, word.Draw(t, "entry"), word.Draw(t, "replaces"), word.Draw(t, "skips")))
		case 2:
			return bundle(p, word.Draw(t, "bundle"), rapid.SampledFrom([]string{"1.0.0", "2.0.0", "x"}).Draw(t, "version"), word.Draw(t, "image"))
		}
		return deprecated(p, fmt.Sprintf(`{"reference":{"schema":"olm.bundle","name":%q},"message":%q}`, word.Draw(t, "what"), word.Draw(t, "message")))
	}), 0, 8).Draw(t, label)
	return read(t, blobs...)
}

// TestTheOtherWayRoundIsTheOpposite holds for any two catalogs, and each has no difference from itself.
func TestTheOtherWayRoundIsTheOpposite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := some(t, "a"), some(t, "b")
		if d := Indexes(a, a); len(d) > 0 {
			t.Fatalf("different from itself: %s", text(t, d))
		}
		there, back := Indexes(a, b), Indexes(b, a)
		for i := range back {
			turn(&back[i])
		}
		if d := cmp.Diff(there, back); d != "" {
			t.Fatal(d)
		}
		var x, y Summary
		x.Add(there)
		y.Add(back)
		if x != y {
			t.Fatalf("%+v, %+v", x, y)
		}
	})
}

// turn exchanges old and new.
func turn(p *Package) {
	change := func(c *Change) { *c = map[Change]Change{Added: Removed, Removed: Added, Changed: Changed}[*c] }
	values := func(list ...*Values) {
		for _, v := range list {
			if v != nil {
				v.Old, v.New = v.New, v.Old
			}
		}
	}
	lists := func(list ...*Lists) {
		for _, l := range list {
			if l != nil {
				l.Added, l.Removed = l.Removed, l.Added
			}
		}
	}
	change(&p.Change)
	values(p.DefaultChannel)
	for i := range p.Channels {
		change(&p.Channels[i].Change)
		for j := range p.Channels[i].Entries {
			e := &p.Channels[i].Entries[j]
			change(&e.Change)
			values(e.Replaces, e.SkipRange)
			lists(e.Skips)
		}
	}
	for i := range p.Bundles {
		b := &p.Bundles[i]
		change(&b.Change)
		values(b.Version, b.Image)
		lists(b.InstallModes, b.GVKs, b.Dependencies)
	}
	for i := range p.Deprecations {
		change(&p.Deprecations[i].Change)
		values(&p.Deprecations[i].Message)
	}
}
