package catalog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// variedBlobs are blobs whose order could matter: repeated names, several default channels, channels in parts,
// deprecations in parts, and more notes than an index keeps.
func variedBlobs() []string {
	blobs := slices.Clone(kilnBlobs)
	for _, c := range []string{"a", "c", "b", "c"} {
		blobs = append(blobs, `{"schema":"olm.package","name":"twice","defaultChannel":"`+c+`"}`)
	}
	for i := range 6 {
		blobs = append(blobs,
			fmt.Sprintf(`{"schema":"olm.channel","package":"twice","name":"a","entries":[{"name":"twice.v%d","replaces":"twice.v%d"},{"name":"twice.v1"}]}`, i%4, i),
			fmt.Sprintf(`{"schema":"olm.bundle","package":"twice","name":"twice.v%d","image":"i%d","properties":[{"type":"olm.package","value":{"version":"1.%d.0+%d"}}]}`, i%2, i%3, i%2, i%3),
			fmt.Sprintf(`{"schema":"olm.deprecations","package":"twice","entries":[{"reference":{"schema":"olm.bundle","name":"twice.v%d"},"message":"m%d"}]}`, i%3, i%2),
		)
	}
	for i := range 2_500 {
		blobs = append(blobs, fmt.Sprintf(`{"schema":"olm.bundle","package":"noisy","name":"noisy.v%d","properties":[]}`, i))
	}
	return blobs
}

func TestTheOrderOfBlobsDoesNotMatter(t *testing.T) {
	blobs := variedBlobs()
	want := encoded(t, mustRead(t, lines(blobs)))
	r := rand.New(rand.NewPCG(7, 7))
	for range 10 {
		r.Shuffle(len(blobs), func(i, j int) { blobs[i], blobs[j] = blobs[j], blobs[i] })
		if got := encoded(t, mustRead(t, lines(blobs))); !bytes.Equal(got, want) {
			t.Fatal("another order of the blobs gives another index")
		}
	}
}

func TestPartsOfOnePackageAreJoined(t *testing.T) {
	x := mustRead(t, lines(variedBlobs()))
	p := x.Package("twice")
	if p == nil || p.DefaultChannel != "c" {
		t.Fatalf("package %+v, want the default channel c", p)
	}
	c := p.Channel("a")
	if c == nil || len(c.Entries) != 12 || len(p.Channels) != 1 {
		t.Fatalf("channels %+v, want one with 12 entries", p.Channels)
	}
	if len(p.Bundles) != 6 || p.FirstBundle("twice.v0") != 0 || p.FirstBundle("twice.v1") != 3 || p.FirstBundle("twice.v2") != -1 {
		t.Errorf("bundles %+v", p.Bundles)
	}
	for _, e := range c.Entries {
		if want := p.FirstBundle(e.Name); e.Bundle != want {
			t.Errorf("entry %s is of bundle %d, want %d", e.Name, e.Bundle, want)
		}
	}
	if len(p.Deprecations) != 6 {
		t.Errorf("deprecations %+v, want 6, each once", p.Deprecations)
	}
	if p.Channel("b") != nil || x.Package("none") != nil || x.Package("").Contained() {
		t.Error("something is found that is not there")
	}
}

func TestWhatMakesACatalogContainAPackage(t *testing.T) {
	for blob, want := range map[string]bool{
		`{"schema":"olm.package","name":"p"}`:                          true,
		`{"schema":"olm.channel","package":"p","name":"c"}`:            true,
		`{"schema":"olm.bundle","package":"p","name":"b"}`:             true,
		`{"schema":"olm.deprecations","package":"p","entries":[]}`:     false,
		`{"schema":"olm.other","package":"p","name":"p"}`:              false,
		`{"schema":"olm.package","name":"p2","package":"p"}`:           false,
		`{"schema":"olm.package.icon","package":"p","name":"p","x":1}`: false,
	} {
		x := mustRead(t, []byte(blob))
		if got := x.Package("p").Contained(); got != want {
			t.Errorf("%s: contained %v, want %v", blob, got, want)
		}
		wantCount := 0
		if want || x.Package("p2") != nil {
			wantCount = 1
		}
		if got := x.Stats().Packages; got != wantCount {
			t.Errorf("%s: %d packages, want %d", blob, got, wantCount)
		}
	}
}

func TestNotesSayWhatWasTolerated(t *testing.T) {
	for name, c := range map[string]struct {
		text, pkg string
		says      []string
		times     int
	}{
		"a version that does not parse":        {`{"schema":"olm.bundle","package":"p","name":"b","properties":[{"type":"olm.package","value":{"version":"v1"}}]}`, "p", []string{`"b"`, `"v1"`, "takes no part"}, 1},
		"no version":                           {`{"schema":"olm.bundle","package":"p","name":"b"}`, "p", []string{`"b"`, "no olm.package property"}, 1},
		"a skipRange that does not parse":      {`{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"b","skipRange":"~1"}]}`, "p", []string{`"b"`, `"~1"`, "no upgrade edge"}, 1},
		"the same beside an entry that is odd": {`{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"b","skipRange":"~1"},{"Name":"x"}]}`, "p", []string{`"~1"`}, 1},
		"entries of absent bundles":            {`{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"b"},{"name":"c"}]}`, "p", []string{"2 channel entries name bundles"}, 1},
		"an absent bundle that is replaced":    {`{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"b","replaces":"a"}]}`, "p", []string{"1 channel entries replace bundles"}, 1},
		"two default channels":                 {`{"schema":"olm.package","name":"p","defaultChannel":"a"}{"schema":"olm.package","name":"p","defaultChannel":"b"}`, "p", []string{"more than one", `"b" is taken`}, 1},
		"the same default channel twice":       {`{"schema":"olm.package","name":"p","defaultChannel":"a"}{"schema":"olm.package","name":"p","defaultChannel":"a"}`, "p", []string{"more than one"}, 0},
		"a package without a name":             {`{"schema":"olm.package"}`, "", []string{"olm.package", "no name"}, 1},
		"a channel without a package":          {`{"schema":"olm.channel","name":"c"}`, "", []string{`"c"`, "names no package"}, 1},
		"a bundle without a package":           {`{"schema":"olm.bundle","name":"b"}`, "", []string{`"b"`, "names no package"}, 1},
		"deprecations without a package":       {`{"schema":"olm.deprecations","entries":[]}`, "", []string{"names no package"}, 1},
		"a deprecation of something unknown":   {`{"schema":"olm.deprecations","package":"p","entries":[{"reference":{"schema":"olm.icon"}}]}`, "p", []string{`"olm.icon"`, "ignored"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			x := mustRead(t, []byte(c.text))
			got := 0
			for _, n := range x.Notes() {
				match := n.Package == c.pkg
				for _, w := range c.says {
					match = match && strings.Contains(n.Message, w)
				}
				if match {
					got++
				}
				if strings.ContainsAny(n.Message, "\n\r") {
					t.Errorf("a note of several lines: %q", n.Message)
				}
			}
			if got != c.times {
				t.Errorf("%d such notes, want %d, in %+v", got, c.times, x.Notes())
			}
		})
	}
	if got := len(mustRead(t, lines(variedBlobs())).Notes()); got != mostNotes {
		t.Errorf("%d notes, want them cut at %d", got, mostNotes)
	}
}
