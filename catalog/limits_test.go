package catalog

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestEachLimitIsKept(t *testing.T) {
	text := lines(kilnBlobs)
	longest, start := 0, map[int]int64{}
	at := int64(0)
	for i, b := range kilnBlobs {
		start[i] = at
		at += int64(len(b)) + 1
		longest = max(longest, len(b))
	}
	for name, c := range map[string]struct {
		limits Limits
		text   string
		offset int64 // -1 when the text must be taken
		says   string
	}{
		"a blob as large as the limit":       {Limits{BlobBytes: int64(longest)}, string(text), -1, ""},
		"a blob one byte larger":             {Limits{BlobBytes: int64(longest) - 1}, string(text), start[4], "an object is larger than"},
		"a total as large as the limit":      {Limits{TotalBytes: int64(len(text))}, string(text), -1, ""},
		"a total one byte larger":            {Limits{TotalBytes: int64(len(text)) - 1}, string(text), int64(len(text)) - 1, "more than"},
		"as many blobs as the limit":         {Limits{Blobs: len(kilnBlobs)}, string(text), -1, ""},
		"one blob more":                      {Limits{Blobs: len(kilnBlobs) - 1}, string(text), start[6], "more than 6 objects"},
		"more text than the index may keep":  {Limits{IndexBytes: 300}, string(text), start[2], "the index would be larger than 300 bytes"},
		"a YAML document over the limit":     {Limits{BlobBytes: 100}, "schema: x\n---\nschema: y\na: " + strings.Repeat("z", 200) + "\n", 10, "an object is larger than"},
		"a YAML line over limit and buffer":  {Limits{BlobBytes: 10_000}, "schema: x\n---\nschema: y\na: " + strings.Repeat("z", 20_000) + "\n", 10, "an object is larger than"},
		"an object in one piece, over limit": {Limits{BlobBytes: 1000}, `{"schema":"x","a":"` + strings.Repeat("z", 2000) + `"}`, 0, "an object is larger than 1000 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.text), c.limits)
			if c.offset < 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, ErrLimit) {
				t.Fatalf("error %v, want %v", err, ErrLimit)
			}
			wantError(t, err, "", c.offset, c.says)
		})
	}
}

func TestEndlessStreamsFailSoonAndSmall(t *testing.T) {
	const size = 2 << 30
	for name, c := range map[string]struct {
		r      io.Reader
		limits Limits
		most   int64 // bytes that may be read
	}{
		"2 GB of noughts":                  {&repeat{text: "\x00", n: size}, Limits{}, 40 << 20},
		"2 GB of letters":                  {&repeat{text: "garbage", n: size}, Limits{}, 40 << 20},
		"2 GB of lines":                    {&repeat{text: "garbage: is this\n", n: size}, Limits{}, 40 << 20},
		"2 GB of opening brackets":         {&repeat{text: "[", n: size}, Limits{}, 40 << 20},
		"2 GB of opening braces":           {&repeat{text: "{", n: size}, Limits{}, 1 << 20},
		"2 GB of quotes":                   {&repeat{text: `{"`, n: size}, Limits{}, 1 << 20},
		"a string without end":             {io.MultiReader(strings.NewReader(`{"schema":"x","a":"`), &repeat{text: "endless ", n: size}), Limits{}, 40 << 20},
		"an array without end":             {io.MultiReader(strings.NewReader(`{"schema":"x","a":[1`), &repeat{text: ",1", n: size}), Limits{}, 40 << 20},
		"objects without end":              {&repeat{text: `{"schema":"x"}`, n: size}, Limits{Blobs: 100_000}, 4 << 20},
		"empty YAML documents without end": {&repeat{text: "---\n", n: size}, Limits{Blobs: 100_000}, 4 << 20},
		"packages without end":             {&counted{}, Limits{IndexBytes: 4 << 20}, 16 << 20},
		"a number without end":             {io.MultiReader(strings.NewReader(`{"schema":"x","a":`), &repeat{text: "1", n: size}), Limits{}, 40 << 20},
		"a key without end":                {io.MultiReader(strings.NewReader(`{"schema":"x","`), &repeat{text: "k", n: size}), Limits{}, 40 << 20},
		"a compressed string without end":  {bytes.NewReader(bomb(t)), Limits{}, 40 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			r := &tally{r: c.r}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			began := time.Now()
			_, err := Read(r, c.limits)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatal("taken")
			}
			if r.n > c.most {
				t.Errorf("%d bytes were read before: %v", r.n, err)
			}
			// What was allocated in all bounds what was held at any time.
			if got := after.TotalAlloc - before.TotalAlloc; got > 256<<20 {
				t.Errorf("%d MB were allocated", got>>20)
			}
			if took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
			t.Logf("%v, %d bytes read, %d MB allocated: %.200v", took.Round(time.Millisecond), r.n, (after.TotalAlloc-before.TotalAlloc)>>20, err)
		})
	}
}

// tally counts what is read.
type tally struct {
	r io.Reader
	n int64
}

func (c *tally) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// counted gives packages of ever new names.
type counted struct {
	n    int
	rest []byte
}

func (c *counted) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		c.n++
		c.rest = []byte(`{"schema":"olm.package","name":"package-` + strings.Repeat("n", c.n%50) + string(rune('a'+c.n%26)) + strconv.Itoa(c.n) + `"}` + "\n")
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// bomb is a small gzip stream that unpacks to 64 MB inside one string.
func bomb(t *testing.T) []byte {
	t.Helper()
	plain, err := io.ReadAll(io.MultiReader(strings.NewReader(`{"schema":"x","a":"`), &repeat{text: "z", n: 64 << 20}))
	if err != nil {
		t.Fatal(err)
	}
	packed := gzipped(t, plain)
	if len(packed) > 1<<20 {
		t.Fatalf("the bomb is %d bytes", len(packed))
	}
	return packed
}

// TestBlanksAreSkippedInOneGo would take minutes if each blank were looked at together with those behind it.
func TestBlanksAreSkippedInOneGo(t *testing.T) {
	if _, err := Read(&repeat{text: " ", n: 1 << 30}, Limits{TotalBytes: 256 << 20}); !errors.Is(err, ErrLimit) {
		t.Errorf("got %v, want %v", err, ErrLimit)
	}
	x, err := Read(io.MultiReader(&repeat{text: " \t", n: 100_000}, strings.NewReader(`{"schema":"x"}`)), Limits{})
	if err != nil || x.Stats().Blobs != 1 || x.Stats().Bytes != 100_014 {
		t.Errorf("got %+v, %v", x, err)
	}
}
