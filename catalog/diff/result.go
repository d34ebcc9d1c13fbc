package diff

// Change is what became of something.
type Change string

// The changes. What is the same is not part of a result.
const (
	Added   Change = "Added"
	Removed Change = "Removed"
	Changed Change = "Changed"
)

// Values are a value before and after.
type Values struct {
	Old string `json:"old"`
	New string `json:"new"`
}

// Lists are the members of a list that came and that went.
type Lists struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}

// Package is what became of a package. When it was added or removed, so were all of its parts.
type Package struct {
	Name   string `json:"name"`
	Change Change `json:"change"`
	// DefaultChannel is nil when it is the same.
	DefaultChannel *Values       `json:"defaultChannel,omitempty"`
	Channels       []Channel     `json:"channels"`
	Bundles        []Bundle      `json:"bundles"`
	Deprecations   []Deprecation `json:"deprecations"`
}

// Channel is what became of a channel of a package.
type Channel struct {
	Name    string  `json:"name"`
	Change  Change  `json:"change"`
	Entries []Entry `json:"entries"`
}

// Entry is what became of a channel's entry. Of an added or removed one, the values are set on one side only.
type Entry struct {
	Name   string `json:"name"`
	Change Change `json:"change"`
	// Replaces, Skips and SkipRange are nil when they are the same.
	Replaces  *Values `json:"replaces,omitempty"`
	Skips     *Lists  `json:"skips,omitempty"`
	SkipRange *Values `json:"skipRange,omitempty"`
}

// Bundle is what became of a bundle. Of an added or removed one, the values are set on one side only.
type Bundle struct {
	Name   string `json:"name"`
	Change Change `json:"change"`
	// Version is that with its release, as VERSION or VERSION (release RELEASE); what cannot be read is "invalid: WHY".
	Version *Values `json:"version,omitempty"`
	// Image is the reference of the bundle's image.
	Image *Values `json:"image,omitempty"`
	// InstallModes, GVKs and Dependencies are those that came and went, the last as TYPE VALUE.
	InstallModes *Lists `json:"installModes,omitempty"`
	GVKs         *Lists `json:"gvks,omitempty"`
	Dependencies *Lists `json:"dependencies,omitempty"`
}

// Deprecation is what became of a deprecation.
type Deprecation struct {
	// Scope is Package, Channel or Bundle; Name that of the channel or bundle, "" for the package.
	Scope  string `json:"scope"`
	Name   string `json:"name"`
	Change Change `json:"change"`
	// Message is set on one side only when it was added or removed.
	Message Values `json:"message"`
}

// Count is how many of a kind came, went and changed.
type Count struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
}

// Add counts one.
func (c *Count) Add(what Change) {
	switch what {
	case Added:
		c.Added++
	case Removed:
		c.Removed++
	case Changed:
		c.Changed++
	}
}

// Summary counts a result.
type Summary struct {
	Packages     Count `json:"packages"`
	Channels     Count `json:"channels"`
	Bundles      Count `json:"bundles"`
	Deprecations Count `json:"deprecations"`
}

// Add counts packages.
func (s *Summary) Add(list []Package) {
	for i := range list {
		p := &list[i]
		s.Packages.Add(p.Change)
		for j := range p.Channels {
			s.Channels.Add(p.Channels[j].Change)
		}
		for j := range p.Bundles {
			s.Bundles.Add(p.Bundles[j].Change)
		}
		for j := range p.Deprecations {
			s.Deprecations.Add(p.Deprecations[j].Change)
		}
	}
}
