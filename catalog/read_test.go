package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestEveryFormSaysTheSame(t *testing.T) {
	jsonLines := lines(kilnBlobs)
	var pretty bytes.Buffer
	for _, b := range kilnBlobs {
		if err := json.Indent(&pretty, []byte(b), "", "\t"); err != nil {
			t.Fatal(err)
		}
		pretty.WriteByte('\n')
	}
	crlf := func(s string) []byte { return []byte(strings.ReplaceAll(s, "\n", "\r\n")) }
	for name, text := range map[string][]byte{
		"JSON lines":                            jsonLines,
		"concatenated JSON":                     []byte(strings.Join(kilnBlobs, "")),
		"no line break at the end":              bytes.TrimSpace(jsonLines),
		"pretty-printed JSON":                   pretty.Bytes(),
		"white space around":                    append([]byte("\n\n  \r\n\t"), append(jsonLines, " \n\n"...)...),
		"a byte order mark":                     append([]byte("\xef\xbb\xbf"), jsonLines...),
		"CRLF":                                  crlf(string(jsonLines)),
		"YAML documents":                        []byte(kilnYAML),
		"YAML with a first marker":              []byte("---\n" + kilnYAML),
		"YAML with empty documents and comment": []byte("# written by hand\n---\n---\n\n" + kilnYAML + "---\n# the end\n"),
		"YAML with CRLF":                        crlf(kilnYAML),
		"YAML with a byte order mark":           append([]byte("\xef\xbb\xbf"), kilnYAML...),
		"YAML without a line break at the end":  []byte(strings.TrimSpace(kilnYAML)),
		"JSON objects as YAML documents":        []byte("---\n" + strings.Join(kilnBlobs, "\n---\n")),
		"gzip":                                  gzipped(t, jsonLines),
		"gzip of several members":               append(gzipped(t, jsonLines[:200]), gzipped(t, jsonLines[200:])...),
		"gzip of YAML":                          gzipped(t, []byte(kilnYAML)),
		"zstd":                                  zstded(t, jsonLines),
		"zstd of several frames":                append(zstded(t, jsonLines[:200]), zstded(t, jsonLines[200:])...),
	} {
		t.Run(name, func(t *testing.T) {
			x := mustRead(t, text)
			if got := describe(x); got != kilnDescribed {
				t.Errorf("got\n%s\nwant\n%s", got, kilnDescribed)
			}
			if s := x.Stats(); s.Blobs != 7 || s.Unknown != 1 || s.Packages != 1 || s.Channels != 2 || s.Entries != 4 || s.Bundles != 2 || s.Deprecations != 3 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

func TestStatsCountBytesAfterDecompression(t *testing.T) {
	text := lines(kilnBlobs)
	for name, packed := range map[string][]byte{"plain": text, "gzip": gzipped(t, text), "zstd": zstded(t, text)} {
		if got := mustRead(t, packed).Stats().Bytes; got != int64(len(text)) {
			t.Errorf("%s: %d bytes, want %d", name, got, len(text))
		}
	}
}

func TestNothingIsAnEmptyCatalog(t *testing.T) {
	for name, text := range map[string]string{
		"no byte": "", "white space": " \n\t\r\n ", "a byte order mark": "\xef\xbb\xbf", "a YAML marker": "---\n", "comments": "# nothing here\n", "an empty gzip": string(gzipped(t, nil)), "an empty zstd": string(zstded(t, nil)),
	} {
		t.Run(name, func(t *testing.T) {
			if s := mustRead(t, []byte(text)).Stats(); s.Blobs != 0 || s.Packages != 0 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

func TestReadersOfEveryTemperSayTheSame(t *testing.T) {
	for name, text := range map[string][]byte{"JSON": lines(kilnBlobs), "YAML": []byte(kilnYAML), "gzip": gzipped(t, lines(kilnBlobs)), "zstd": zstded(t, lines(kilnBlobs))} {
		for temper, wrap := range map[string]func(io.Reader) io.Reader{
			"one byte at a time":     iotest.OneByteReader,
			"half of what is wanted": iotest.HalfReader,
			"data with the end":      iotest.DataErrReader,
			"nothing now and then":   func(r io.Reader) io.Reader { return &hesitant{r: r} },
		} {
			t.Run(name+", "+temper, func(t *testing.T) {
				x, err := Read(wrap(bytes.NewReader(text)), Limits{})
				if err != nil {
					t.Fatal(err)
				}
				if got := describe(x); got != kilnDescribed {
					t.Errorf("got\n%s\nwant\n%s", got, kilnDescribed)
				}
			})
		}
	}
}

// hesitant returns no data and no error every other time.
type hesitant struct {
	r     io.Reader
	again bool
}

func (h *hesitant) Read(p []byte) (int, error) {
	if h.again = !h.again; h.again {
		return 0, nil
	}
	return h.r.Read(p)
}

func TestAReadErrorIsReportedAtItsOffset(t *testing.T) {
	broken := errors.New("the line went dead")
	text := lines(kilnBlobs)
	for name, cut := range map[string]int{"at once": 0, "inside an object": 300, "between objects": len(kilnBlobs[0]) + 1, "at the end": len(text)} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(io.MultiReader(bytes.NewReader(text[:cut]), iotest.ErrReader(broken)), Limits{})
			if !errors.Is(err, broken) {
				t.Fatalf("error %v does not wrap the reader's", err)
			}
			wantError(t, err, "", int64(cut), "reading")
		})
	}
	t.Run("in YAML", func(t *testing.T) {
		_, err := Read(io.MultiReader(strings.NewReader(kilnYAML[:500]), iotest.ErrReader(broken)), Limits{})
		if !errors.Is(err, broken) {
			t.Fatalf("error %v does not wrap the reader's", err)
		}
		wantError(t, err, "", 500, "reading")
	})
	t.Run("a reader that never returns anything", func(t *testing.T) {
		if _, err := Read(idle{}, Limits{}); !errors.Is(err, io.ErrNoProgress) {
			t.Fatalf("error %v, want %v", err, io.ErrNoProgress)
		}
	})
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestBlobsStraddleBuffersOfAnySize(t *testing.T) {
	// Blobs of many sizes put the buffer's end at every part of a blob; the big ones make it grow.
	var text bytes.Buffer
	want := 0
	add := func(pad int) {
		want++
		text.WriteString(`{"junk":"` + strings.Repeat(`x\n`, pad) + `","entries":[{"name":"b` + strings.Repeat("y", pad%7) + `"}],"name":"c` + strings.Repeat("z", want%5) + `","package":"p","schema":"olm.channel"}` + strings.Repeat("\n", pad%3))
	}
	for pad := range 2_000 {
		add(pad % 331)
	}
	for _, big := range []int{60_000, 130_000, 131_072, 400_000, 1_000_000, 50} {
		add(big)
	}
	for name, r := range map[string]io.Reader{"plain": bytes.NewReader(text.Bytes()), "in halves": iotest.HalfReader(bytes.NewReader(text.Bytes()))} {
		x, err := Read(r, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s := x.Stats(); s.Blobs != want || s.Entries != want || s.Bytes != int64(text.Len()) {
			t.Errorf("%s: %d blobs, %d entries, %d bytes, want %d blobs and %d bytes", name, s.Blobs, s.Entries, s.Bytes, want, text.Len())
		}
	}
}

func TestATruncatedStreamIsRefusedAtEveryByte(t *testing.T) {
	text := lines(kilnBlobs[:2])
	whole := map[int]bool{0: true, len(kilnBlobs[0]): true, len(kilnBlobs[0]) + 1: true, len(text) - 1: true, len(text): true}
	for cut := range len(text) + 1 {
		_, err := Read(bytes.NewReader(text[:cut]), Limits{})
		if whole[cut] {
			if err != nil {
				t.Errorf("cut after an object, at byte %d: %v", cut, err)
			}
			continue
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at byte %d: %v, want %v", cut, err, io.ErrUnexpectedEOF)
		}
		begin := "begins at byte 0"
		if cut > len(kilnBlobs[0]) {
			begin = fmt.Sprintf("begins at byte %d", len(kilnBlobs[0])+1)
		}
		wantError(t, err, "", int64(cut), begin)
	}
	for name, packed := range map[string][]byte{"gzip": gzipped(t, text), "zstd": zstded(t, text)} {
		for cut := 5; cut < len(packed); cut++ {
			if _, err := Read(bytes.NewReader(packed[:cut]), Limits{}); err == nil {
				t.Errorf("%s cut at byte %d of %d is taken", name, cut, len(packed))
			}
		}
	}
}

func TestADamagedCompressedStreamIsRefused(t *testing.T) {
	text := lines(kilnBlobs)
	for name, packed := range map[string][]byte{"gzip": gzipped(t, text), "zstd": zstded(t, text)} {
		for i := len(packed) / 2; i < len(packed); i++ {
			bad := bytes.Clone(packed)
			bad[i] ^= 0x55
			x, err := Read(bytes.NewReader(bad), Limits{})
			if err == nil && describe(x) != kilnDescribed {
				t.Errorf("%s altered at byte %d gives another catalog", name, i)
			}
		}
	}
}
