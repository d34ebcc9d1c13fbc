// Package casetest reads the resolution cases in resolver/testdata/cases, for the tests of every door. The shorthand is
// described in the README beside the cases.
package casetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/resolver"
)

// Case is one file.
type Case struct {
	Name      string               `json:"name"`
	Source    string               `json:"source"`
	Why       string               `json:"why"`
	Rule      resolver.Rule        `json:"rule"`
	CLI       *bool                `json:"cli"`
	Catalogs  map[string]Catalog   `json:"catalogs"`
	Extension ocv1.CatalogFilter   `json:"extension"`
	Installed *ocv1.BundleMetadata `json:"installed"`
	// InstalledUnknown is condition Installed being Unknown, as when operator-controller has unset the status.
	InstalledUnknown bool `json:"installedUnknown"`
	Want             Want `json:"want"`

	// File is the file's name without .yaml; it is also the extension's name.
	File string `json:"-"`
}

// Catalog is a ClusterCatalog in shorthand.
type Catalog struct {
	Priority    int32              `json:"priority"`
	Labels      map[string]string  `json:"labels"`
	Unavailable bool               `json:"unavailable"`
	Deleting    bool               `json:"deleting"`
	Serving     *bool              `json:"serving"`
	Content     string             `json:"content"`
	Packages    map[string]Package `json:"packages"`
}

// Package is a package in shorthand; its parts become blobs.
type Package struct {
	DefaultChannel string            `json:"defaultChannel"`
	Channels       map[string][]any  `json:"channels"`
	Bundles        map[string]Bundle `json:"bundles"`
	Deprecations   []any             `json:"deprecations"`
	PackageBlob    *bool             `json:"packageBlob"`
}

// Bundle is a bundle in shorthand.
type Bundle struct {
	Version    *string `json:"version"`
	Release    *string `json:"release"`
	Properties []any   `json:"properties"`
}

// Want is what the verdict must be.
type Want struct {
	Outcome         resolver.Outcome  `json:"outcome"`
	Reason          resolver.Reason   `json:"reason"`
	Catalog         *string           `json:"catalog"`
	Bundle          *string           `json:"bundle"`
	Ambiguous       []string          `json:"ambiguous"`
	Notes           []resolver.Reason `json:"notes"`
	NotNotes        []resolver.Reason `json:"notNotes"`
	Deprecations    *[]Deprecation    `json:"deprecations"`
	MessageContains []string          `json:"messageContains"`
}

// Deprecation is one that must be reported; an absent name or message matches any.
type Deprecation struct {
	Scope   resolver.Scope `json:"scope"`
	Name    *string        `json:"name"`
	Message *string        `json:"message"`
}

// Load reads all cases of a folder, by file name.
func Load(dir string) ([]Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no cases in %s", dir)
	}
	var cases []Case
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		c := Case{Rule: resolver.RulePackage, File: strings.TrimSuffix(filepath.Base(file), ".yaml")}
		if err := yaml.UnmarshalStrict(text, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// OnCommandLine reports whether the command line can show the case.
func (c Case) OnCommandLine() bool { return c.CLI == nil || *c.CLI }

// ClusterExtension is the extension of the case.
func (c Case) ClusterExtension() *ocv1.ClusterExtension {
	source := c.Extension
	ext := &ocv1.ClusterExtension{
		TypeMeta:   metav1.TypeMeta{APIVersion: ocv1.GroupVersion.String(), Kind: ocv1.ClusterExtensionKind},
		ObjectMeta: metav1.ObjectMeta{Name: c.File},
		Spec: ocv1.ClusterExtensionSpec{
			Namespace: "default",
			Source:    ocv1.SourceConfig{SourceType: ocv1.SourceTypeCatalog, Catalog: &source},
		},
	}
	if c.Installed != nil {
		ext.Status.Install = &ocv1.ClusterExtensionInstallStatus{Bundle: *c.Installed}
	}
	if c.InstalledUnknown {
		ext.Status.Conditions = []metav1.Condition{{Type: "Installed", Status: metav1.ConditionUnknown, Reason: "Case", LastTransitionTime: metav1.NewTime(time.Unix(1_700_000_000, 0).UTC())}}
	}
	return ext
}

// Names are the catalogs' names, sorted.
func (c Case) Names() []string {
	var names []string
	for n := range c.Catalogs {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// ClusterCatalog is the manifest of a catalog, with the status that the case gives it.
func (c Case) ClusterCatalog(name string) *ocv1.ClusterCatalog {
	s := c.Catalogs[name]
	cc := &ocv1.ClusterCatalog{
		TypeMeta:   metav1.TypeMeta{APIVersion: ocv1.GroupVersion.String(), Kind: "ClusterCatalog"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: s.Labels},
		Spec: ocv1.ClusterCatalogSpec{
			Priority: s.Priority,
			Source:   ocv1.CatalogSource{Type: ocv1.SourceTypeImage, Image: &ocv1.ImageSource{Ref: "example.com/" + name + ":latest"}},
		},
	}
	if s.Unavailable {
		cc.Spec.AvailabilityMode = ocv1.AvailabilityModeUnavailable
	}
	if s.Deleting {
		at := metav1.NewTime(time.Unix(1_700_000_000, 0).UTC())
		cc.DeletionTimestamp = &at
	}
	status := metav1.ConditionTrue
	if s.Serving != nil && !*s.Serving {
		status = metav1.ConditionFalse
	}
	cc.Status.Conditions = []metav1.Condition{{Type: ocv1.TypeServing, Status: status, Reason: "Case", LastTransitionTime: metav1.NewTime(time.Unix(1_700_000_000, 0).UTC())}}
	return cc
}

// Content is what is at hand of a catalog's content in the case.
func (c Case) Content(name string) (catalog.Content, error) {
	s := c.Catalogs[name]
	if s.Content == "missing" {
		return catalog.Content{Problem: "it has not been unpacked yet"}, nil
	}
	index, err := catalog.Read(bytes.NewReader(s.FBC()), catalog.Limits{})
	if err != nil {
		return catalog.Content{}, fmt.Errorf("catalog %s: %w", name, err)
	}
	content := catalog.Content{Index: index}
	if s.Content == "outdated" {
		content.Outdated, content.Problem = true, "a newer revision is being loaded"
	}
	return content, nil
}

// Inputs are the catalogs as the resolver takes them.
func (c Case) Inputs() ([]resolver.Catalog, error) {
	var list []resolver.Catalog
	for _, name := range c.Names() {
		content, err := c.Content(name)
		if err != nil {
			return nil, err
		}
		list = append(list, resolver.NewCatalog(c.ClusterCatalog(name), content))
	}
	return list, nil
}

// FBC is the content of a catalog as JSON lines.
func (s Catalog) FBC() []byte {
	var out bytes.Buffer
	blob := func(v map[string]any) {
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err) // cannot be: it came from YAML
		}
		out.Write(append(raw, '\n'))
	}
	for name, p := range s.Packages {
		if p.PackageBlob == nil || *p.PackageBlob {
			blob(map[string]any{"schema": catalog.SchemaPackage, "name": name, "defaultChannel": p.DefaultChannel})
		}
		for channel, entries := range p.Channels {
			blob(map[string]any{"schema": catalog.SchemaChannel, "package": name, "name": channel, "entries": entries})
		}
		for bundle, b := range p.Bundles {
			properties := append([]any{}, b.Properties...)
			if b.Version != nil {
				value := map[string]any{"packageName": name, "version": *b.Version}
				if b.Release != nil {
					value["release"] = *b.Release
				}
				properties = append(properties, map[string]any{"type": "olm.package", "value": value})
			}
			blob(map[string]any{"schema": catalog.SchemaBundle, "package": name, "name": bundle,
				"image": "example.com/" + bundle, "properties": properties})
		}
		if len(p.Deprecations) > 0 {
			blob(map[string]any{"schema": catalog.SchemaDeprecations, "package": name, "entries": p.Deprecations})
		}
	}
	return out.Bytes()
}

// Write lays the case out as files: the extension and a folder of catalogs, as the command line takes them.
func (c Case) Write(dir string) (extension, catalogs string, err error) {
	catalogs = filepath.Join(dir, "catalogs")
	if err := os.MkdirAll(catalogs, 0o755); err != nil {
		return "", "", err
	}
	put := func(file string, v any) error {
		raw, err := yaml.Marshal(v)
		if err != nil {
			return err
		}
		return os.WriteFile(file, raw, 0o644)
	}
	for _, name := range c.Names() {
		if err := put(filepath.Join(catalogs, name+".manifest.yaml"), c.ClusterCatalog(name)); err != nil {
			return "", "", err
		}
		if c.Catalogs[name].Content != "missing" {
			if err := os.WriteFile(filepath.Join(catalogs, name+".jsonl"), c.Catalogs[name].FBC(), 0o644); err != nil {
				return "", "", err
			}
		}
	}
	extension = filepath.Join(dir, "extension.yaml")
	return extension, catalogs, put(extension, c.ClusterExtension())
}
