package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

func init() { Register("markdown", writeMarkdown) }

const (
	// markdownLimit is how long a comment on GitHub may be. Bytes are counted, which are never fewer than characters.
	markdownLimit = 65_536
	// markdownReserve is left for what closes the comment.
	markdownReserve = 400
	// markdownCell is how many characters of a text go into a cell.
	markdownCell = 1500
	// markdownMarker is how a bot finds its comment again.
	markdownMarker = "<!-- olmgate check -->\n"
)

// comment is a Markdown text that does not grow beyond its limit: rows that do not fit are counted and left out.
type comment struct {
	text    strings.Builder
	room    int
	dropped int
}

// put writes a text that always has its place, such as a heading.
func (c *comment) put(text string) {
	c.text.WriteString(text)
	c.room -= len(text)
}

// row writes a line if it fits, and none after the first that does not.
func (c *comment) row(text string) {
	if c.dropped > 0 || len(text) > c.room {
		c.dropped++
		return
	}
	c.put(text)
}

// section opens a part and closes it again; when not even its frame and something more fit, its rows are left out.
func (c *comment) section(open, end string, rows []string) {
	if len(rows) == 0 {
		return
	}
	if c.dropped > 0 || len(open)+len(end)+len(rows[0]) > c.room {
		c.dropped += len(rows)
		return
	}
	c.room -= len(end)
	c.put(open)
	for _, r := range rows {
		c.row(r)
	}
	c.text.WriteString(end)
}

func writeMarkdown(w io.Writer, r *Report, _ Options) error {
	c := &comment{room: markdownLimit - markdownReserve}
	c.put(markdownMarker + "### olmgate check: " + shownFindings(r) + "\n\n" + shownScope(r) + "\n")
	c.section("\n| | Finding | Where | What |\n| --- | --- | --- | --- |\n", "", markdownFindings(r.Findings))
	if p := r.Plan; p != nil {
		c.put("\n#### Plan against " + markdownCode(shownShort(p.Base, 100)) + ": " + shownPlan(p) + "\n")
		c.section("\n| | Extension | Before | After | Notes |\n| --- | --- | --- | --- | --- |\n", "", markdownChanges(p.Changes))
		c.section("\n| | ClusterCatalog | Difference |\n| --- | --- | --- |\n", "", markdownCatalogs(p.Catalogs))
	}
	c.section(markdownFold("Accepted by the baseline", len(r.Accepted))+"| | Finding | Where | What |\n| --- | --- | --- | --- |\n",
		"\n</details>\n", markdownFindings(r.Accepted))
	c.section(markdownFold("Extensions", len(r.Extensions))+"| Extension | Resolves to | Catalog | Where |\n| --- | --- | --- | --- |\n",
		"\n</details>\n", markdownExtensions(r.Extensions))
	c.section(markdownFold("About this run", len(r.Notices)), "\n</details>\n", markdownNotices(r.Notices))
	if c.dropped > 0 {
		fmt.Fprintf(&c.text, "\n**Cut here**: a comment holds %d characters, and %s more did not fit. The format `html` or `text` has everything.\n",
			markdownLimit, count(c.dropped, "line"))
	}
	_, err := io.WriteString(w, c.text.String())
	return err
}

func markdownFold(title string, n int) string {
	return fmt.Sprintf("\n<details><summary>%s (%d)</summary>\n\n", title, n)
}

// markdownLevels are the words for levels, with a sign that is seen without colours.
var markdownLevels = map[Level]string{Error: "❌ error", Warning: "⚠️ warning", Undecided: "❔ undecided"}

func markdownFindings(list []Finding) []string {
	var rows []string
	for i := range list {
		f := &list[i]
		what := markdownText(f.Message)
		for _, fix := range f.Fixes {
			what += "<br>**Fix:** " + markdownText(fix.Message)
		}
		if f.Accepted != nil {
			what += "<br>**Accepted:** " + markdownText(shownAccepted(f.Accepted))
		}
		where := markdownCode(shownPlace(f.Location))
		if s := shownSubject(f); s != "" {
			where += "<br>" + markdownText(s)
		}
		if f.Field != "" {
			where += "<br>" + markdownCode(f.Field)
		}
		rows = append(rows, markdownRow(markdownLevels[f.Level], markdownLink(f.Rule, f.Docs), where, what))
	}
	return rows
}

func markdownChanges(list []Change) []string {
	var rows []string
	for i := range list {
		c := &list[i]
		rows = append(rows, markdownRow("`"+string(c.Mark)+"`", "**"+markdownText(c.Extension)+"**",
			markdownText(shownSide(c.Before)), markdownText(shownSide(c.After)), markdownText(shownNotes(c))))
	}
	return rows
}

func markdownCatalogs(list []CatalogChange) []string {
	var rows []string
	for _, c := range list {
		rows = append(rows, markdownRow("`"+string(c.Mark)+"`", "**"+markdownText(c.Name)+"**", markdownText(strings.Join(c.What, "; "))))
	}
	return rows
}

func markdownExtensions(list []*Extension) []string {
	var rows []string
	for _, e := range list {
		v, to := &e.Verdict, ""
		if v.Bundle != nil {
			to = markdownText(v.Bundle.Name) + " " + markdownText(v.Bundle.Version)
		} else {
			to = markdownText(string(v.Reason))
		}
		rows = append(rows, markdownRow(markdownText(v.Extension), to, markdownText(v.Catalog), markdownCode(shownPlace(e.Location))))
	}
	return rows
}

func markdownNotices(list []string) []string {
	var rows []string
	for _, n := range list {
		rows = append(rows, "- "+markdownText(n)+"\n")
	}
	return rows
}

func markdownRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func markdownLink(text, to string) string {
	if !strings.HasPrefix(to, "https://") {
		return markdownText(text)
	}
	return "[" + markdownText(text) + "](" + strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "|", "%7C").Replace(to) + ")"
}

// markdownEntities keep text from being markup of Markdown, of tables or of HTML.
var markdownEntities = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "|", "&#124;", "`", "&#96;", "*", "&#42;", "_", "&#95;",
	"[", "&#91;", "]", "&#93;", "(", "&#40;", ")", "&#41;", `\`, "&#92;", "~", "&#126;", "!", "&#33;", "$", "&#36;",
)

// markdownMentions breaks what services make links or notices of, with a space of no width: mentions, references and
// addresses.
var markdownMentions = regexp.MustCompile(`[@#][\pL\pN_]|://|(?i:www\.)|\b(?i:gh-)\pN`)

// markdownText is text of others in a line: nothing in it has a meaning, and nobody is called by it.
func markdownText(s string) string {
	s = shownShort(strings.TrimSpace(s), markdownCell)
	s = markdownMentions.ReplaceAllStringFunc(s, func(m string) string {
		at := 1
		if len(m) > 2 && m != "://" && m[0] != '@' && m[0] != '#' {
			at = 3
		}
		return m[:at] + "\u200b" + m[at:]
	})
	return markdownEntities.Replace(s)
}

// markdownSimple is what can stand between backticks.
var markdownSimple = regexp.MustCompile("^[^`|\\\\<>&\n]+$")

// markdownCode is text that can be copied as it is.
func markdownCode(s string) string {
	s = shownShort(strings.TrimSpace(s), markdownCell)
	if s == "" {
		return ""
	}
	if markdownSimple.MatchString(s) {
		return "`" + s + "`"
	}
	return "<code>" + markdownEntities.Replace(s) + "</code>"
}
