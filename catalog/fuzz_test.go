package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
)

// FuzzRead feeds any bytes to the reader, plain and compressed: it must not panic, must keep its limits, must take no
// JSON that encoding/json does not, and must give an index that survives Encode and Decode.
func FuzzRead(f *testing.F) {
	for _, seed := range [][]byte{
		lines(kilnBlobs), []byte(kilnYAML), gzipped(f, lines(kilnBlobs)), zstded(f, lines(kilnBlobs)),
		[]byte("\xef\xbb\xbf{\"schema\":\"x\"}"), []byte("a: &a [*a]\n"), []byte("? {a: 1}\n: [x]\n"), []byte("- a\n"), []byte("%YAML 1.1\n---\nschema: x\n"),
		[]byte("schema: x\n<<: {name: y}\n"), []byte("schema: !!binary aGk=\n"), []byte("1: 2\ntrue: .nan\nschema: x\n"), []byte(`{"schema":"x","a":[[[[]]]]}`),
	} {
		f.Add(seed)
	}
	limits := Limits{BlobBytes: 64 << 10, TotalBytes: 256 << 10, Blobs: 1000, IndexBytes: 1 << 20}
	f.Fuzz(func(t *testing.T, text []byte) {
		x, err := Read(bytes.NewReader(text), limits)
		if err != nil {
			var at *Error
			if !errors.As(err, &at) || at.Offset < 0 || at.Offset > limits.TotalBytes {
				t.Fatalf("an error without a sensible offset: %v", err)
			}
			if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' && at.Offset > int64(len(text)) {
				t.Fatalf("offset %d in %d bytes: %v", at.Offset, len(text), err)
			}
			return
		}
		if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
			objects := 0
			for dec := json.NewDecoder(bytes.NewReader(text)); ; objects++ {
				var raw json.RawMessage
				if err := dec.Decode(&raw); errors.Is(err, io.EOF) {
					break
				} else if err != nil || !json.Valid(raw) {
					t.Fatalf("object %d is taken, encoding/json says %v: %q", objects, err, text)
				}
			}
			if objects != x.Stats().Blobs {
				t.Fatalf("%d blobs, want %d in %q", x.Stats().Blobs, objects, text)
			}
		}
		again, err := Decode(bytes.NewReader(encoded(t, x)), Limits{})
		if err != nil || describe(again) != describe(x) || again.Stats() != x.Stats() {
			t.Fatalf("does not survive encoding: %v\n%s\n%s", err, describe(x), describe(again))
		}
	})
}

// FuzzDecode feeds any content to the decoder, as it is and under a right checksum: it must not panic, and what it
// takes must survive another round.
func FuzzDecode(f *testing.F) {
	good := encoded(f, mustRead(f, lines(kilnBlobs)))
	f.Add(good)
	f.Add(content(f, good))
	f.Add(content(f, encoded(f, &Index{})))
	f.Add([]byte(encodingMagic))
	limits := Limits{IndexBytes: 4 << 20}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, in := range [][]byte{text, sealed(t, text)} {
			x, err := Decode(bytes.NewReader(in), limits)
			if err != nil {
				if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrLimit) {
					t.Fatalf("neither damaged nor a limit: %v", err)
				}
				continue
			}
			once := encoded(t, x)
			again, err := Decode(bytes.NewReader(once), limits)
			if err != nil || describe(again) != describe(x) || !bytes.Equal(encoded(t, again), once) {
				t.Fatalf("does not survive another round: %v", err)
			}
		}
	})
}
