// Package docs holds the pages that the program itself shows.
package docs

import (
	_ "embed"
	"strings"
)

//go:embed reasons.md
var reasons string

// ReasonPage is the page of one reason or note.
type ReasonPage struct {
	// Name is the reason's.
	Name string
	// Summary is the first sentence of the page.
	Summary string
	// Text is the page in Markdown, without its heading.
	Text string
}

// Reasons are all pages of reasons.md, in its order.
func Reasons() []ReasonPage {
	var list []ReasonPage
	for _, section := range strings.Split(reasons, "\n### ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		text, _, _ = strings.Cut(text, "\n## ")
		text = strings.TrimSpace(text)
		summary, _, _ := strings.Cut(text, "\n\n")
		summary, _, _ = strings.Cut(strings.ReplaceAll(summary, "\n", " "), ". ")
		list = append(list, ReasonPage{strings.TrimSpace(name), strings.TrimSuffix(summary, "."), text})
	}
	return list
}

// ReasonNames are the names of all reasons and notes.
func ReasonNames() []string {
	var names []string
	for _, r := range Reasons() {
		names = append(names, r.Name)
	}
	return names
}

// Reason is the page of one reason.
func Reason(name string) (ReasonPage, bool) {
	for _, r := range Reasons() {
		if r.Name == name {
			return r, true
		}
	}
	return ReasonPage{}, false
}
