package snapshot

import (
	"time"

	"github.com/olmgate/olmgate/catalog"
)

// Snapshot is all catalogs of a cluster at one moment.
type Snapshot struct {
	// Created is when it was made, in seconds, UTC.
	Created time.Time
	// CreatedBy is the version of the olmgate that made it.
	CreatedBy string
	// Catalogs by name, ascending; no two have the same name.
	Catalogs []Catalog
}

// Catalog is one ClusterCatalog: what resolution depends on, and what tells people which revision it is.
type Catalog struct {
	Name     string            `json:"name"`
	Labels   map[string]string `json:"labels,omitempty"`
	Priority int32             `json:"priority"`
	// Unavailable is availabilityMode Unavailable.
	Unavailable bool `json:"unavailable,omitempty"`
	// Deleting is a set deletionTimestamp.
	Deleting bool `json:"deleting,omitempty"`
	// Serving is condition Serving being True.
	Serving bool `json:"serving"`
	// Image is spec.source.image.ref, "" when it is not known.
	Image string `json:"image,omitempty"`
	// Resolved is the image with its digest that the content is of, status.resolvedSource.image.ref; "" when it is not
	// known.
	Resolved string `json:"resolved,omitempty"`
	// Index is the content, nil when there is none.
	Index *catalog.Index `json:"-"`
	// Outdated is true when Index is of another digest than Resolved.
	Outdated bool `json:"outdated,omitempty"`
	// Problem says why there is no content, or why it is outdated, as a phrase that follows "because"; else "".
	Problem string `json:"problem,omitempty"`
	// Bytes is the length of the content in the file. Encode and Decode set it.
	Bytes int64 `json:"-"`
}

// header is the line before the contents.
type header struct {
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"createdBy"`
	Catalogs  []entry   `json:"catalogs"`
}

// entry is a catalog of the header.
type entry struct {
	Catalog
	Content *content `json:"content,omitempty"`
}

// content describes an index behind the header. All but Bytes is for people who look into a file.
type content struct {
	Bytes int64 `json:"bytes"`
	// FBC is the size of the File-Based Catalog that the index was made of, in bytes.
	FBC      int64 `json:"fbcBytes"`
	Packages int   `json:"packages"`
	Channels int   `json:"channels"`
	Bundles  int   `json:"bundles"`
}

func contentOf(x *catalog.Index, bytes int) *content {
	st := x.Stats()
	return &content{Bytes: int64(bytes), FBC: st.Bytes, Packages: st.Packages, Channels: st.Channels, Bundles: st.Bundles}
}
