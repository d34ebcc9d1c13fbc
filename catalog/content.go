package catalog

// Content is what is at hand of one catalog's content at one moment.
type Content struct {
	// Index is nil when no content is at hand.
	Index *Index
	// Outdated is true when Index is of another digest than the one that the catalog's status reports.
	Outdated bool
	// Problem says why there is no content, or why it is outdated, as a phrase that follows "because": for example
	// "it is being unpacked". "" when the content is current.
	Problem string
}
