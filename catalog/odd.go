package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	"golang.org/x/text/cases"
)

// addOdd reads a blob of unusual shape through encoding/json, as OLM's own library reads every blob: first as a map,
// in which the last of repeated keys wins, then as a struct, whose fields match keys in any case.
func (b *builder) addOdd(raw []byte) error {
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	meta, err := oddMeta(all)
	if err != nil {
		return err
	}
	text := marshal(all)
	switch meta["schema"] {
	case SchemaPackage:
		return b.oddPackage(text)
	case SchemaChannel:
		return b.oddChannel(text)
	case SchemaBundle:
		return b.oddBundle(text)
	case SchemaDeprecations:
		return b.oddDeprecations(text)
	case "":
		return errNoSchema
	}
	b.stats.Unknown++
	return nil
}

// oddMeta finds schema, package and name in any case. Two keys that differ in case only are an error.
func oddMeta(all map[string]any) (map[string]string, error) {
	folder := cases.Fold()
	folded := map[string]string{}
	keys := make([]string, 0, len(all))
	for k := range all {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		f := folder.String(k)
		if other, ok := folded[f]; ok {
			return nil, fmt.Errorf("keys %.40q and %.40q differ in case only", other, k)
		}
		folded[f] = k
	}
	meta := map[string]string{}
	for _, name := range []string{"schema", "package", "name"} {
		k, ok := folded[name]
		if !ok {
			continue
		}
		text, ok := all[k].(string)
		if !ok {
			return nil, fmt.Errorf("%q is not a string", k)
		}
		meta[name] = text
	}
	return meta, nil
}

type oddProperty struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

func (b *builder) oddPackage(text []byte) error {
	var p struct {
		Name           string `json:"name"`
		DefaultChannel string `json:"defaultChannel"`
		Description    string `json:"description"`
		Icon           *struct {
			Data      []byte `json:"base64data"`
			MediaType string `json:"mediatype"`
		} `json:"icon"`
		Properties []oddProperty `json:"properties"`
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return schemaError(SchemaPackage, p.Name, err)
	}
	b.addPackage(b.keep([]byte(p.Name)), b.keep([]byte(p.DefaultChannel)))
	return nil
}

func (b *builder) oddChannel(text []byte) error {
	var c struct {
		Name    string `json:"name"`
		Package string `json:"package"`
		Entries []struct {
			Name      string   `json:"name"`
			Replaces  string   `json:"replaces"`
			Skips     []string `json:"skips"`
			SkipRange string   `json:"skipRange"`
		} `json:"entries"`
		Properties []oddProperty `json:"properties"`
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return schemaError(SchemaChannel, c.Name, err)
	}
	var entries []Entry
	for _, e := range c.Entries {
		entry := Entry{Name: b.keep([]byte(e.Name)), Replaces: b.keep([]byte(e.Replaces)), SkipRange: b.keep([]byte(e.SkipRange))}
		for _, name := range e.Skips {
			entry.Skips = append(entry.Skips, b.keep([]byte(name)))
		}
		entries = append(entries, b.entry(c.Package, entry))
	}
	b.addChannel(b.keep([]byte(c.Package)), b.keep([]byte(c.Name)), entries)
	return nil
}

func (b *builder) oddBundle(text []byte) error {
	var o struct {
		Name          string        `json:"name"`
		Package       string        `json:"package"`
		Image         string        `json:"image"`
		Properties    []oddProperty `json:"properties"`
		RelatedImages []struct {
			Name  string `json:"name"`
			Image string `json:"image"`
		} `json:"relatedImages"`
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return schemaError(SchemaBundle, o.Name, err)
	}
	bundle := Bundle{Name: b.keep([]byte(o.Name)), Image: b.keep([]byte(o.Image))}
	// The values are canonical JSON now, so they are read like those of any other bundle.
	var s scanner
	blob := blob{}
	for _, p := range o.Properties {
		typ := span{len(s.b), 0}
		s.b = append(s.b, marshal(p.Type)...)
		typ.hi = len(s.b)
		val := span{len(s.b), 0}
		s.b = append(s.b, p.Value...)
		if val.hi = len(s.b); val.hi == val.lo {
			val = span{}
		}
		blob.props = append(blob.props, property{typ: typ, val: val})
		s.b = append(s.b, '\n') // ends a number
	}
	if !b.properties(&s, &blob, &bundle) {
		return schemaError(SchemaBundle, o.Name, errors.New("its properties cannot be read"))
	}
	b.addBundle(b.keep([]byte(o.Package)), bundle)
	return nil
}

func (b *builder) oddDeprecations(text []byte) error {
	var d struct {
		Package string `json:"package"`
		Entries []struct {
			Reference struct {
				Schema string `json:"schema"`
				Name   string `json:"name"`
			} `json:"reference"`
			Message string `json:"message"`
		} `json:"entries"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return schemaError(SchemaDeprecations, d.Package, err)
	}
	var list []Deprecation
	for _, e := range d.Entries {
		list = append(list, Deprecation{
			Schema:  b.keep([]byte(e.Reference.Schema)),
			Name:    b.keep([]byte(e.Reference.Name)),
			Message: b.keep([]byte(e.Message)),
		})
	}
	b.addDeprecations(b.keep([]byte(d.Package)), list)
	return nil
}
