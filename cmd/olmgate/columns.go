package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/resolver"
)

// column is one of a table with a row per extension.
type column struct {
	heading string
	cell    func(*judged) string
}

// none stands in a cell for what is not there, so that every row has as many words.
const none = "-"

// maxCell is where the text of a cell is cut, in characters.
const maxCell = 60

var (
	nameColumn       = column{"NAME", func(j *judged) string { return orText(j.verdict.Extension, "(no name)") }}
	packageColumn    = column{"PACKAGE", func(j *judged) string { return j.verdict.Package }}
	installedColumn  = column{"INSTALLED", installedCell}
	newestColumn     = column{"NEWEST", newestCell}
	hopsColumn       = column{"HOPS", hopsCell}
	heldByColumn     = column{"HELD BY", heldByCell}
	catalogColumn    = column{"CATALOG", func(j *judged) string { return j.verdict.Catalog }}
	priorityColumn   = column{"PRIORITY", priorityCell}
	updateColumn     = column{"UPDATE", func(j *judged) string { return updateText(j.verdict.Update) }}
	reasonColumn     = column{"REASON", func(j *judged) string { return string(j.verdict.Reason) }}
	channelsColumn   = column{"CHANNELS", func(j *judged) string { return strings.Join(asked(j).channels, ",") }}
	versionColumn    = column{"VERSION", func(j *judged) string { return asked(j).version }}
	deprecatedColumn = column{"DEPRECATED", func(j *judged) string { return deprecatedText(j.verdict.Deprecations) }}
	whereColumn      = column{"WHERE", whereCell}
)

// bundleColumn shows the chosen bundle's version.
func bundleColumn(heading string) column {
	return column{heading, func(j *judged) string { return bundleText(j.verdict.Bundle) }}
}

// withPlaces adds the column with places in files, when the extensions come from files.
func withPlaces(columns []column, list []judged) []column {
	for i := range list {
		if list[i].verdict.Location != nil {
			return append(columns[:len(columns):len(columns)], whereColumn)
		}
	}
	return columns
}

func headings(columns []column) []string {
	var row []string
	for _, c := range columns {
		row = append(row, c.heading)
	}
	return row
}

func cells(columns []column, j *judged) []string {
	var row []string
	for _, c := range columns {
		// Two spaces in a row part columns, so no cell has them.
		text := strings.Join(strings.Fields(printable(c.cell(j))), " ")
		row = append(row, orText(clip(text, maxCell), none))
	}
	return row
}

func orText(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}

// clip leaves out the middle of what is longer than so many characters: names differ at either end.
func clip(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	const gap = "..."
	head := (most - len(gap)) / 2
	return string(r[:head]) + gap + string(r[len(r)-(most-len(gap)-head):])
}

func bundleText(b *resolver.Bundle) string {
	switch {
	case b == nil:
		return ""
	case b.Release != "":
		return fmt.Sprintf("%s (release %s)", b.Version, b.Release)
	}
	return b.Version
}

func installedCell(j *judged) string {
	u := j.verdict.Update
	if u.Installed == nil && u.Reason == resolver.InstalledStateUnknown {
		return "unknown"
	}
	return bundleText(u.Installed)
}

func newestCell(j *judged) string {
	if u := j.verdict.Update; u.Newest != nil || u.Available != resolver.UpdateUnknown {
		return bundleText(u.Newest)
	}
	return "unknown"
}

func hopsCell(j *judged) string {
	if n := j.verdict.Update.Hops; n != nil {
		return strconv.Itoa(*n)
	}
	return ""
}

func priorityCell(j *judged) string {
	if p := j.verdict.Priority; p != nil {
		return strconv.Itoa(int(*p))
	}
	return ""
}

func whereCell(j *judged) string {
	if at := j.verdict.Location; at != nil {
		return fmt.Sprintf("%s:%d", at.File, at.Line)
	}
	return ""
}

// request is what an extension asks for besides the package.
type request struct {
	version  string
	channels []string
}

func asked(j *judged) request {
	if c := j.extension.Spec.Source.Catalog; c != nil {
		return request{c.Version, c.Channels}
	}
	return request{}
}

// heldByCell names the constraints that hold the newest bundle back.
func heldByCell(j *judged) string {
	var by []string
	for _, field := range j.verdict.Update.HeldBy {
		switch strings.TrimPrefix(field, "spec.source.catalog.") {
		case "version":
			by = append(by, fmt.Sprintf("version %q", asked(j).version))
		case "channels":
			by = append(by, fmt.Sprintf("channels [%s]", strings.Join(asked(j).channels, " ")))
		case "upgradeConstraintPolicy":
			by = append(by, "no upgrade edge")
		default:
			by = append(by, field)
		}
	}
	return strings.Join(by, ", ")
}

// updateText says in a word or two whether there is an update.
func updateText(u *resolver.Update) string {
	switch u.Reason {
	case resolver.NotInstalled:
		return ""
	case resolver.UpToDate:
		return "up to date"
	case resolver.HeldBack:
		return "held back"
	case resolver.WithinConstraints:
		if older(u.Resolvable, u.Installed) {
			return "downgrade"
		}
		return "available"
	}
	return "unknown"
}

// older compares versions and releases; what cannot be read is not older.
func older(a, b *resolver.Bundle) bool {
	if a == nil || b == nil {
		return false
	}
	av, ar, aErr := catalog.ParseVersion(a.Version, &a.Release)
	bv, br, bErr := catalog.ParseVersion(b.Version, &b.Release)
	if aErr != nil || bErr != nil {
		return false
	}
	if c := av.Compare(bv); c != 0 {
		return c < 0
	}
	return ar.Compare(br) < 0
}

func deprecatedText(list []resolver.Deprecation) string {
	var words []string
	for _, d := range list {
		switch d.Scope {
		case resolver.ScopePackage:
			words = append(words, "package")
		case resolver.ScopeChannel:
			words = append(words, "channel "+d.Name)
		case resolver.ScopeBundle:
			words = append(words, "bundle")
		case resolver.ScopeInstalledBundle:
			words = append(words, "installed bundle")
		}
	}
	return strings.Join(words, ", ")
}
