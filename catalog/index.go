package catalog

import (
	"sort"

	"github.com/blang/semver/v4"
)

// Schemas of the blobs that an index is made of. Blobs of any other schema are counted and dropped.
const (
	SchemaPackage      = "olm.package"
	SchemaChannel      = "olm.channel"
	SchemaBundle       = "olm.bundle"
	SchemaDeprecations = "olm.deprecations"
)

// Index is the content of one catalog. The zero value is an empty catalog.
type Index struct {
	packages []Package // by name, ascending
	stats    Stats
	notes    []Note
}

// Stats counts what a catalog held.
type Stats struct {
	// Blobs is the number of FBC objects, those of unknown schemas included.
	Blobs int
	// Bytes is the size of the FBC text that was read, after decompression. 0 when the index did not come from FBC.
	Bytes int64
	// Packages, Channels, Entries, Bundles and Deprecations count what the index holds.
	Packages, Channels, Entries, Bundles, Deprecations int
	// Unknown is the number of blobs of schemas that play no part in resolution.
	Unknown int
}

// Note is something about a catalog that was tolerated and that its author may want to know.
type Note struct {
	// Package is the package it belongs to, "" when there is none.
	Package string
	// Message says what was found, in one line.
	Message string
}

// Package is everything a catalog says about one package. A package exists when any package, channel, bundle or
// deprecations blob names it; Contained tells whether it counts as contained in the catalog.
type Package struct {
	Name string
	// Declared is whether an olm.package blob exists.
	Declared bool
	// DefaultChannel is the one the olm.package blob names, whether or not it exists.
	DefaultChannel string
	// Channels by name, ascending. Blobs of the same channel name are one channel with the entries of all.
	Channels []Channel
	// Bundles by name, ascending. A name may occur more than once when the catalog repeats it.
	Bundles []Bundle
	// Deprecations are the entries of all olm.deprecations blobs of the package, sorted.
	Deprecations []Deprecation
}

// Contained reports whether the catalog has a package, channel or bundle blob for the package. Deprecations alone do
// not make a package.
func (p *Package) Contained() bool {
	return p != nil && (p.Declared || len(p.Channels) > 0 || len(p.Bundles) > 0)
}

// Channel returns the channel of that name, nil when the package has none.
func (p *Package) Channel(name string) *Channel {
	i := sort.Search(len(p.Channels), func(i int) bool { return p.Channels[i].Name >= name })
	if i < len(p.Channels) && p.Channels[i].Name == name {
		return &p.Channels[i]
	}
	return nil
}

// FirstBundle returns the position of the first bundle of that name in Bundles, -1 when there is none. Bundles of the
// same name follow each other.
func (p *Package) FirstBundle(name string) int {
	i := sort.Search(len(p.Bundles), func(i int) bool { return p.Bundles[i].Name >= name })
	if i < len(p.Bundles) && p.Bundles[i].Name == name {
		return i
	}
	return -1
}

// Channel is a named list of entries, which carry the upgrade edges.
type Channel struct {
	Name string
	// Entries by bundle name, ascending.
	Entries []Entry
}

// Entry places a bundle in a channel and says which installed bundles may be upgraded to it.
type Entry struct {
	// Name is the bundle's name. The bundle may be absent from the catalog.
	Name string
	// Bundle is the position of the first bundle of that name in Package.Bundles, -1 when it is absent.
	Bundle int
	// Replaces is the name of the bundle that this one upgrades, "" when there is none. It may be absent.
	Replaces string
	// Skips are names of more bundles that this one upgrades.
	Skips []string
	// SkipRange is a range of github.com/blang/semver/v4 syntax; installed versions in it may be upgraded. It may not
	// parse, see BadSkipRange.
	SkipRange string
	// BadSkipRange is true when SkipRange is set and does not parse: it is no edge.
	BadSkipRange bool
}

// Bundle is one installable version of a package.
type Bundle struct {
	Name string
	// Image is the reference of the bundle's image.
	Image string
	// Version is the bundle's version. Its build metadata is empty when that was taken as the release.
	Version semver.Version
	// Release tells builds of one version apart; nil when unset.
	Release Release
	// Problem says why the version or release cannot be used, "" when both can. Such a bundle takes no part in
	// resolution.
	Problem string
	// InstallModes are those that the CSV metadata supports.
	InstallModes InstallModes
	// GVKs are the APIs that the bundle provides (olm.gvk).
	GVKs []GVK
	// Dependencies are its properties of the types olm.package.required, olm.gvk.required and olm.constraint.
	Dependencies []Property
}

// GVK is a group, version and kind of an API.
type GVK struct{ Group, Version, Kind string }

// Property is a typed piece of bundle metadata; Value is its compact JSON.
type Property struct{ Type, Value string }

// InstallModes is a set of the install modes that a bundle's CSV metadata supports.
type InstallModes uint8

// The install modes of operators.coreos.com/v1alpha1.
const (
	OwnNamespace InstallModes = 1 << iota
	SingleNamespace
	MultiNamespace
	AllNamespaces
	// CSVMetadata is set when the bundle has an olm.csv.metadata property at all. Without it, nothing is known of its
	// install modes.
	CSVMetadata
)

// Deprecation is one entry of an olm.deprecations blob.
type Deprecation struct {
	// Schema is what is deprecated: SchemaPackage, SchemaChannel or SchemaBundle.
	Schema string
	// Name of the channel or bundle; "" for the package.
	Name string
	// Message may be empty: the entry still is a deprecation.
	Message string
}

// Package returns what the catalog says about a package, nil when it says nothing.
func (x *Index) Package(name string) *Package {
	i := sort.Search(len(x.packages), func(i int) bool { return x.packages[i].Name >= name })
	if i < len(x.packages) && x.packages[i].Name == name {
		return &x.packages[i]
	}
	return nil
}

// Packages are all packages by name, ascending.
func (x *Index) Packages() []Package { return x.packages }

// Stats counts what the catalog held.
func (x *Index) Stats() Stats { return x.stats }

// Notes are things about the catalog that were tolerated, sorted by package.
func (x *Index) Notes() []Note { return x.notes }
