package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestReaderAgainstDeclcfgOnGeneratedBlobs compares the two readers on texts that look like a File-Based Catalog but
// for mischief that a fuzzer of bytes hardly finds: keys in other case, repeated or escaped, values of other types.
func TestReaderAgainstDeclcfgOnGeneratedBlobs(t *testing.T) {
	n := 8_000
	if testing.Short() {
		n = 1_000
	}
	for seed := range n {
		g := generator{rand.New(rand.NewPCG(1, uint64(seed)))}
		var text bytes.Buffer
		for range 1 + g.IntN(3) {
			text.WriteString(g.blob())
			text.WriteString(g.pick("", "\n", " ", "\r\n"))
		}
		compareReaders(t, text.Bytes())
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

type generator struct{ *rand.Rand }

func (g generator) pick(of ...string) string { return of[g.IntN(len(of))] }

// rarely is true once in n times.
func (g generator) rarely(n int) bool { return g.IntN(n) == 0 }

// key writes a key, now and then in another spelling.
func (g generator) key(name string) string {
	switch {
	case g.rarely(60):
		return fmt.Sprintf("%q", strings.ToUpper(name))
	case g.rarely(60):
		i := g.IntN(len(name))
		return fmt.Sprintf(`"%s\u%04x%s"`, name[:i], name[i], name[i+1:])
	case g.rarely(80):
		return fmt.Sprintf("%q", strings.NewReplacer("s", "ſ", "k", "\u212a").Replace(name))
	case g.rarely(80):
		return fmt.Sprintf("%q", strings.ToLower(name))
	}
	return fmt.Sprintf("%q", name)
}

// object writes members in any order; some are left out, some are repeated.
func (g generator) object(members ...func() string) string {
	var list []string
	for _, m := range members {
		if !g.rarely(12) {
			list = append(list, m())
		}
		if g.rarely(60) {
			list = append(list, m())
		}
	}
	if g.rarely(10) {
		list = append(list, g.pick("x", "X", `"a-b.c/d"`, `"ß"`, `"SS"`)+":"+g.junk())
	}
	for i, m := range list {
		if strings.HasPrefix(strings.ToLower(m), "x:") {
			list[i] = `"` + m[:1] + `"` + m[1:]
		}
	}
	g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return "{" + strings.Join(list, g.pick(",", ", ", ",\n\t")) + "}"
}

func (g generator) member(name string, value func() string) func() string {
	return func() string { return g.key(name) + g.pick(":", ": ", " :") + g.or(value) }
}

// or is the value, now and then something of another type.
func (g generator) or(value func() string) string {
	if g.rarely(50) {
		return g.junk()
	}
	return value()
}

func (g generator) junk() string {
	return g.pick("null", "null", "true", "7", "-0.5e-3", "1e400", `""`, `"\u0061"`, `"\ud83d"`, "[]", "{}", `[null]`, `{"a":{"a":[1,"<&>"]}}`, "\"\xff\"", `"1.0.0"`, "12345678901234567890")
}

func (g generator) text(of ...string) func() string {
	return func() string {
		v := g.pick(of...)
		if g.rarely(30) && v != "" {
			return fmt.Sprintf(`"\u%04x%s"`, v[0], v[1:])
		}
		return fmt.Sprintf("%q", v)
	}
}

func (g generator) list(most int, item func() string) func() string {
	return func() string {
		var items []string
		for range g.IntN(most + 1) {
			items = append(items, g.or(item))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
}

func (g generator) blob() string {
	pkg := g.member("package", g.text("kiln", "kiln", "oven", ""))
	name := g.member("name", g.text("kiln", "stable", "kiln.v1", "kiln.v2", ""))
	properties := g.member("properties", g.list(4, g.property))
	switch g.IntN(6) {
	case 0:
		return g.object(g.member("schema", g.text("olm.package")), name, g.member("defaultChannel", g.text("stable", "fast", "")), properties,
			g.member("description", g.text("d")), g.member("icon", func() string {
				return g.object(g.member("base64data", g.text("aGk=", "aGk", "", "aG\\nk=")), g.member("mediatype", g.text("image/png")))
			}))
	case 1:
		return g.object(g.member("schema", g.text("olm.channel")), name, pkg, properties, g.member("entries", g.list(3, func() string {
			bundle := g.text("kiln.v1", "kiln.v2", "")
			return g.object(g.member("name", bundle), g.member("replaces", bundle), g.member("skips", g.list(2, bundle)),
				g.member("skipRange", g.text(">=1.0.0 <2.0.0", "<1.x", "^1.0.0", "")))
		})))
	case 2:
		return g.object(g.member("schema", g.text("olm.deprecations")), pkg, g.member("entries", g.list(3, func() string {
			return g.object(g.member("message", g.text("", "m", "two\nlines")), g.member("reference", func() string {
				return g.object(g.member("schema", g.text("olm.package", "olm.channel", "olm.bundle", "other")), g.member("name", g.text("stable", "kiln.v1", "")))
			}))
		})))
	case 3:
		return g.object(g.member("schema", g.text("other", "olm.package", "olm.Bundle", "")), name, pkg, g.member("value", g.junk))
	default:
		return g.object(g.member("schema", g.text("olm.bundle")), name, pkg, properties, g.member("image", g.text("example.com/kiln:1", "")),
			g.member("relatedImages", g.list(2, func() string {
				return g.object(g.member("name", g.text("a", "")), g.member("image", g.text("example.com/b")))
			})))
	}
}

func (g generator) property() string {
	part := g.text("a.example.com", "v1", "Kiln", "")
	typ, value := "other", g.junk
	switch g.IntN(5) {
	case 0, 1:
		typ, value = "olm.package", func() string {
			return g.object(g.member("packageName", g.text("kiln")), g.member("version", g.text("1.0.0", "1.0.0+2", "1.0.0-rc.1+b", "v1", "1.0", "1.0.0+01")),
				func() string {
					if g.rarely(2) {
						return g.key("release") + ":" + g.or(g.text("1", "2.el9", "01", "", "a-very-long-release-name"))
					}
					return `"other":1`
				})
		}
	case 2:
		typ, value = "olm.gvk", func() string {
			return g.object(g.member("group", part), g.member("version", part), g.member("kind", part))
		}
	case 3:
		typ, value = g.pick("olm.gvk.required", "olm.package.required", "olm.constraint"), func() string {
			return g.object(g.member("packageName", part), g.member("versionRange", g.text(">=1.0.0 <2.0.0 && <&>")), g.member("n", g.junk))
		}
	case 4:
		typ, value = "olm.csv.metadata", func() string {
			return g.object(g.member("displayName", part), g.member("installModes", g.list(4, func() string {
				return g.object(g.member("type", g.text("AllNamespaces", "OwnNamespace", "SingleNamespace", "MultiNamespace", "other")),
					g.member("supported", func() string { return g.pick("true", "false") }))
			})))
		}
	}
	return g.object(g.member("type", g.text(typ)), g.member("value", value))
}
