package report

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/olmgate/olmgate/resolver"
)

func TestHTMLGolden(t *testing.T) {
	for name, r := range map[string]*Report{"sample": sample(t), "clean": clean(t), "empty": empty()} {
		out := render(t, "html", r, options)
		golden(t, name+".html", strings.Replace(out, htmlStyle, "/* html.css */", 1))
	}
}

// walk visits all nodes of a page.
func walk(n *html.Node, visit func(*html.Node)) {
	visit(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c, visit)
	}
}

// TestHTMLHoldsNothingOfOthers looks through the page for what could run, load or send something.
func TestHTMLHoldsNothingOfOthers(t *testing.T) {
	for name, r := range map[string]*Report{"sample": sample(t), "large": largeReport(t)} {
		page, err := html.Parse(strings.NewReader(render(t, "html", r, options)))
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		walk(page, func(n *html.Node) {
			for _, a := range n.Attr {
				if a.Key == "id" {
					if ids[a.Val] {
						t.Errorf("%s: two elements of the id %s", name, a.Val)
					}
					ids[a.Val] = true
				}
			}
		})
		walk(page, func(n *html.Node) {
			if slices.Contains([]string{"script", "iframe", "object", "embed", "img", "link", "base", "form", "input", "foreignobject", "b"}, strings.ToLower(n.Data)) && n.Type == html.ElementNode {
				t.Errorf("%s: there is a %s", name, n.Data)
			}
			for _, a := range n.Attr {
				key := strings.ToLower(a.Key)
				switch {
				case strings.HasPrefix(key, "on"), key == "style", key == "src", key == "srcset", key == "action":
					t.Errorf("%s: %s has %s", name, n.Data, a.Key)
				case key == "href" && strings.HasPrefix(a.Val, "#"):
					if !ids[a.Val[1:]] {
						t.Errorf("%s: %s leads nowhere", name, a.Val)
					}
				case key == "href" && !strings.HasPrefix(a.Val, docsBase):
					t.Errorf("%s: a link to %s", name, a.Val)
				}
			}
		})
	}
}

func TestHTMLPolicyNamesTheStyle(t *testing.T) {
	out := html.UnescapeString(render(t, "html", sample(t), options))
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(out)
	sum := sha256.Sum256([]byte(style[1]))
	if want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(out, want) {
		t.Errorf("the policy must have %s", want)
	}
	if strings.Contains(style[1], "url(") || strings.Contains(style[1], "@import") {
		t.Error("the style loads something")
	}
}

func TestHTMLDocsLinksMustBeAddresses(t *testing.T) {
	r := many(1)
	r.Findings[0].Docs = "javascript:alert(1)"
	if out := render(t, "html", r, options); strings.Contains(out, "javascript:") {
		t.Error("a link runs a program")
	}
}

// TestHTMLHasBounds renders more graphs than a page holds.
func TestHTMLHasBounds(t *testing.T) {
	e := largeReport(t).Extensions[0]
	g := e.Graphs()
	r := &Report{}
	for i := range htmlGraphs + 20 {
		another := *e
		another.Graphs = func() []resolver.Graph { return g }
		f := findings(e)[0]
		f.Name, f.Extension = fmt.Sprint(i), &another
		r.Findings = append(r.Findings, f)
	}
	out := render(t, "html", r, options)
	if n := strings.Count(out, `<svg class="graph"`); n != htmlGraphs {
		t.Errorf("%d graphs, want %d", n, htmlGraphs)
	}
	if n := strings.Count(out, "The graph is not drawn"); n != 20 {
		t.Errorf("%d graphs are said to be missing, want 20", n)
	}
	if len(out) > 16<<20 {
		t.Errorf("the page has %d bytes", len(out))
	}
}

func TestHTMLBreaksPathsAndNothingElse(t *testing.T) {
	for s, want := range map[string]string{
		"set spec.source.catalog.version: 1.2.3": "set spec|.source|.catalog|.version: 1.2.3", "a/b/": "a/|b/|", "": "", "é.é": "é|.é", "end. Next": "end. Next",
	} {
		if got := strings.Join(htmlBreaks(s), "|"); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}
