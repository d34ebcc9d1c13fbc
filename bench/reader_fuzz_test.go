package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/property"

	"github.com/olmgate/olmgate/catalog"
)

// FuzzReaderAgainstDeclcfg compares catalog.Read with OLM's own library: both take or both refuse a text, and what
// they take out of it is the same. Left out on purpose: YAML (only JSON has an encoding/json to compare with), a byte
// order mark, limits, and the contents of olm.bundle.object properties, which declcfg decodes and the index does not
// look at.
func FuzzReaderAgainstDeclcfg(f *testing.F) {
	for _, seed := range readerSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] != '{' || bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
			t.Skip("not JSON")
		}
		compareReaders(t, text)
	})
}

// compareReaders fails when the two do not agree on a JSON text.
func compareReaders(t *testing.T, text []byte) {
	t.Helper()
	want, refErr := reference(text)
	if refErr != nil && strings.Contains(refErr.Error(), "read bundle objects") {
		return // the index does not look into bundle objects
	}
	index, err := catalog.Read(bytes.NewReader(text), catalog.Limits{})
	if (err == nil) != (refErr == nil) {
		t.Fatalf("olmgate: %v\ndeclcfg: %v\ntext: %q", err, refErr, text)
	}
	if err != nil {
		var at *catalog.Error
		if !errors.As(err, &at) || at.Offset < 0 || at.Offset > int64(len(text)) {
			t.Fatalf("no offset inside the text of %d bytes: %v", len(text), err)
		}
		return
	}
	got := flatten(index)
	wanted := flattenConfig(want)
	if !slices.Equal(got, wanted) {
		t.Fatalf("text: %q\nolmgate:\n  %s\ndeclcfg:\n  %s", text, strings.Join(got, "\n  "), strings.Join(wanted, "\n  "))
	}
	if n := len(want.Others); index.Stats().Unknown != n {
		t.Fatalf("%d blobs of unknown schemas, want %d in %q", index.Stats().Unknown, n, text)
	}
}

// reference reads concatenated JSON with encoding/json and declcfg.
func reference(text []byte) (*declcfg.DeclarativeConfig, error) {
	var metas []*declcfg.Meta
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var raw json.RawMessage
		if err := dec.Decode(&raw); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		var m declcfg.Meta
		if err := unmarshal(raw, &m); err != nil {
			return nil, err
		}
		metas = append(metas, &m)
	}
	return declcfg.LoadSlice(metas)
}

// unmarshal makes an error of a panic: declcfg's printer of errors indexes past its text for some of them.
func unmarshal(raw []byte, m *declcfg.Meta) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("declcfg panicked while it reported an error: %v", r)
		}
	}()
	return json.Unmarshal(raw, m)
}

// flatten writes an index as sorted lines.
func flatten(x *catalog.Index) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, p := range x.Packages() {
		add("package %q %v %q", p.Name, p.Declared, p.DefaultChannel)
		for _, c := range p.Channels {
			add("channel %q %q", p.Name, c.Name)
			for _, e := range c.Entries {
				add("entry %q %q %q %q %q %q", p.Name, c.Name, e.Name, e.Replaces, e.Skips, e.SkipRange)
			}
		}
		for _, b := range p.Bundles {
			version := "unusable"
			if b.Problem == "" {
				version = b.Version.String() + " release " + b.Release.String()
			}
			add("bundle %q %q %q %s %s gvks %q needs %q", p.Name, b.Name, b.Image, version, modes(b.InstallModes), b.GVKs, b.Dependencies)
		}
		for _, d := range p.Deprecations {
			add("deprecation %q %q %q %q", p.Name, d.Schema, d.Name, d.Message)
		}
	}
	slices.Sort(lines)
	return lines
}

func modes(m catalog.InstallModes) string {
	var list []string
	for _, known := range []struct {
		bit  catalog.InstallModes
		name string
	}{{catalog.AllNamespaces, "AllNamespaces"}, {catalog.MultiNamespace, "MultiNamespace"}, {catalog.OwnNamespace, "OwnNamespace"}, {catalog.SingleNamespace, "SingleNamespace"}} {
		if m&known.bit != 0 {
			list = append(list, known.name)
		}
	}
	return fmt.Sprintf("%v%v", m&catalog.CSVMetadata != 0, list)
}

// flattenConfig writes what the index keeps of a configuration in the same form.
func flattenConfig(cfg *declcfg.DeclarativeConfig) []string {
	var lines []string
	seen := map[string]bool{}
	once := func(format string, args ...any) {
		if line := fmt.Sprintf(format, args...); !seen[line] {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	declared, defaults := map[string]bool{}, map[string]string{}
	mention := func(name string) {
		if _, ok := declared[name]; !ok {
			declared[name] = false
		}
	}
	for _, p := range cfg.Packages {
		declared[p.Name] = true
		defaults[p.Name] = max(defaults[p.Name], p.DefaultChannel)
	}
	for _, c := range cfg.Channels {
		if c.Package == "" {
			continue
		}
		mention(c.Package)
		once("channel %q %q", c.Package, c.Name)
		for _, e := range c.Entries {
			lines = append(lines, fmt.Sprintf("entry %q %q %q %q %q %q", c.Package, c.Name, e.Name, e.Replaces, e.Skips, e.SkipRange))
		}
	}
	for _, b := range cfg.Bundles {
		if b.Package == "" {
			continue
		}
		mention(b.Package)
		lines = append(lines, bundleLine(b))
	}
	for _, d := range cfg.Deprecations {
		if d.Package == "" {
			continue
		}
		mention(d.Package)
		for _, e := range d.Entries {
			switch e.Reference.Schema {
			case "olm.package":
				once("deprecation %q %q %q %q", d.Package, "olm.package", "", e.Message)
			case "olm.channel", "olm.bundle":
				once("deprecation %q %q %q %q", d.Package, e.Reference.Schema, e.Reference.Name, e.Message)
			}
		}
	}
	delete(declared, "")
	for name, d := range declared {
		once("package %q %v %q", name, d, defaults[name])
	}
	slices.Sort(lines)
	return lines
}

func bundleLine(b declcfg.Bundle) string {
	version, found := "unusable", false
	var gvks []catalog.GVK
	var needs []catalog.Property
	csv := false
	modes := map[string]bool{}
	for _, p := range b.Properties {
		switch p.Type {
		case property.TypePackage:
			if !found {
				found = true
				version = versionOf(p.Value)
			}
		case property.TypeGVK:
			var g struct{ Group, Version, Kind string }
			if json.Unmarshal(p.Value, &g) == nil && string(p.Value) != "null" {
				gvks = append(gvks, catalog.GVK(g))
			}
		case "olm.package.required", "olm.gvk.required", "olm.constraint":
			needs = append(needs, catalog.Property{Type: p.Type, Value: string(p.Value)})
		case property.TypeCSVMetadata:
			csv = true
			var v any
			if json.Unmarshal(p.Value, &v) != nil {
				continue
			}
			meta, _ := v.(map[string]any)
			list, _ := meta["installModes"].([]any)
			for _, item := range list {
				m, _ := item.(map[string]any)
				if name, _ := m["type"].(string); m["supported"] == true && slices.Contains([]string{"AllNamespaces", "MultiNamespace", "OwnNamespace", "SingleNamespace"}, name) {
					modes[name] = true
				}
			}
		}
	}
	var names []string
	for _, n := range []string{"AllNamespaces", "MultiNamespace", "OwnNamespace", "SingleNamespace"} {
		if modes[n] {
			names = append(names, n)
		}
	}
	return fmt.Sprintf("bundle %q %q %q %s %v%v gvks %q needs %q", b.Package, b.Name, b.Image, version, csv, names, gvks, needs)
}

func versionOf(value json.RawMessage) string {
	var v struct {
		PackageName, Version string
		Release              *string
	}
	if json.Unmarshal(value, &v) != nil {
		return "unusable"
	}
	version, release, err := catalog.ParseVersion(v.Version, v.Release)
	if err != nil {
		return "unusable"
	}
	return version.String() + " release " + release.String()
}

var readerSeeds = []string{
	``,
	"\n \r\n\t",
	`{"schema":"olm.package","name":"kiln","defaultChannel":"stable","description":"d","icon":{"base64data":"aGk=","mediatype":"image/svg+xml"}}`,
	`{"schema":"olm.channel","package":"kiln","name":"stable","entries":[{"name":"kiln.v1"},{"name":"kiln.v2","replaces":"kiln.v1","skips":["kiln.v0",null],"skipRange":">=1.0.0 <2.0.0"}]}`,
	`{"entries":[{"name":"a","skipRange":"~1"},{"Name":"b","skips":null}],"name":"s","package":"k","schema":"olm.channel"}`,
	`{"schema":"olm.bundle","package":"kiln","name":"kiln.v1","image":"e/k:1","properties":[{"type":"olm.package","value":{"packageName":"kiln","version":"1.0.0+2"}},{"type":"olm.gvk","value":{"group":"g","kind":"K","version":"v1"}}],"relatedImages":[{"name":"","image":"i"}]}`,
	`{"schema":"olm.bundle","package":"k","name":"b","properties":[{"value":{"version":"1.0.0","release":"3","packageName":"k"},"type":"olm.package"},{"value":{"installModes":[{"supported":true,"type":"AllNamespaces"},{"supported":false,"type":"OwnNamespace"}]},"type":"olm.csv.metadata"}]}`,
	`{"schema":"olm.bundle","package":"k","name":"b","properties":[{"type":"olm.csv.metadata","value":{"installModes":[{"type":"SingleNamespace","supported":true},{"type":"MultiNamespace","supported":true}]}}]}`,
	`{"schema":"olm.bundle","package":"k","name":"b","properties":[{"type":"olm.package","value":{"version":"1.0.0","version":null}},{"type":"olm.package","value":{"version":"2.0.0"}}]}`,
	`{"schema":"olm.bundle","package":"k","name":"b","properties":[{"type":"olm.package","value":{"version":"1.0.0","Version":"2.0.0","RELEASE":"1"}},{"type":"olm.gvk","value":{"Kind":"A","kind":"B"}},{"type":"olm.gvk","value":null},{"type":"olm.gvk","value":7}]}`,
	`{"schema":"olm.bundle","package":"k","name":"b","properties":[{"type":"olm.constraint","value":{"b":1,"a":{"z":[],"c":"<"}}},{"type":"olm.package.required"},{"type":"olm.gvk.required","value":null}]}`,
	`{"schema":"olm.deprecations","package":"kiln","entries":[{"reference":{"schema":"olm.package"},"message":"m"},{"reference":{"schema":"olm.bundle","name":"b"},"message":""},{"reference":null},{"reference":{"schema":"x"}}]}`,
	`{"schema":"other","package":"p","name":"n","x":[1,-2.5e3,true,false,null,"\u00e9\ud83d\ude00\ud83d"]}{"schema":"olm.package","name":"p"}`,
	`{"Schema":"olm.package","NAME":"p","DefaultChannel":"c"}`,
	`{"schema":"olm.package","schema":"olm.channel","package":"p","name":"n"}`,
	`{"schema":"olm.package","Schema":"olm.package","name":"p"}`,
	`{"schema":"olm.package","name":"p","a":1,"A":2}`,
	`{"schema":"olm.package","name":1}`,
	`{"schema":"olm.package","name":null}`,
	`{"schema":"","name":"p"}`,
	`{"name":"p"}`,
	`{"schema":"olm.package","name":"p","icon":{"base64data":[1,2]}}`,
	`{"schema":"olm.package","name":"p","icon":{"base64data":"*"}}`,
	`{"schema":"olm.package","name":"p","properties":[null,{"type":"t"},{"TYPE":"t","value":1}]}`,
	`{"schema":"olm.package","name":"p","properties":[{"type":1}]}`,
	`{"schema":"olm.package","name":"p","properties":{}}`,
	`{"schema":"olm.bundle","package":"p","name":"b","image":7}`,
	`{"schema":"olm.bundle","package":"p","name":"b","relatedImages":[{"image":1}]}`,
	`{"schema":"olm.bundle","package":"p","name":"b","relatedImages":[null,{"Image":"x"}]}`,
	`{"schema":"x","n":1e999}`,
	`{"schema":"x","n":01}`,
	`{"schema":"x","n":"` + "\x01" + `"}`,
	`{"schema":"x","n":"` + "\xff" + `"}`,
	`{"schema":"olm.p\u0061ckage","n\u0061me":"p` + "\xff" + `"}`,
	`{"schema":"x","n":"\x"}`,
	`{"schema":"x"}]`,
	`{"schema":"x",}`,
	`{"schema":"x"`,
	`{"schema":"x"}null`,
	`{"ſchema":"x","name":"ß"}`,
	`{"schema":"x","pac` + "\u212a" + `age":"p"}`,
}
