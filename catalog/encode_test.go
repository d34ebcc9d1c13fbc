package catalog

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/blang/semver/v4"
)

func TestWhatIsEncodedIsDecodedAgain(t *testing.T) {
	for name, x := range map[string]*Index{
		"nothing":          {},
		"a small catalog":  mustRead(t, lines(kilnBlobs)),
		"a varied catalog": mustRead(t, lines(variedBlobs())),
	} {
		t.Run(name, func(t *testing.T) {
			text := encoded(t, x)
			for how, r := range map[string]io.Reader{"whole": bytes.NewReader(text), "one byte at a time": iotest.OneByteReader(bytes.NewReader(text))} {
				got, err := Decode(r, Limits{})
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				if describe(got) != describe(x) || got.Stats() != x.Stats() || len(got.Notes()) != len(x.Notes()) || len(x.Notes()) > 0 && !reflect.DeepEqual(got.Notes(), x.Notes()) {
					t.Errorf("%s: got\n%s\nwant\n%s", how, describe(got), describe(x))
				}
				if !bytes.Equal(encoded(t, got), text) {
					t.Errorf("%s: encoded again it differs", how)
				}
			}
		})
	}
}

func TestADamagedIndexIsRefusedWhateverByteIsAltered(t *testing.T) {
	good := encoded(t, mustRead(t, lines(kilnBlobs)))
	for i := range good {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			bad := bytes.Clone(good)
			bad[i] ^= flip
			if _, err := Decode(bytes.NewReader(bad), Limits{}); !errors.Is(err, ErrDamaged) {
				t.Fatalf("altered at byte %d: %v, want %v", i, err, ErrDamaged)
			}
		}
	}
	for cut := range good {
		if _, err := Decode(bytes.NewReader(good[:cut]), Limits{}); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut at byte %d: %v, want %v", cut, err, ErrDamaged)
		}
	}
	if _, err := Decode(bytes.NewReader(append(bytes.Clone(good), 0)), Limits{}); !errors.Is(err, ErrDamaged) {
		t.Fatalf("one byte more: %v, want %v", err, ErrDamaged)
	}
}

// TestContentThatDoesNotAddUpIsRefused alters the content and makes the checksum right again, as no accident does.
func TestContentThatDoesNotAddUpIsRefused(t *testing.T) {
	plain := content(t, encoded(t, mustRead(t, lines(kilnBlobs))))
	refused := 0
	for i := range plain {
		for _, v := range []byte{0x01, 0xff} {
			bad := bytes.Clone(plain)
			bad[i] = v
			x, err := Decode(bytes.NewReader(sealed(t, bad)), Limits{})
			switch {
			case err == nil && i%7 != 0: // the check below takes its time
			case err == nil:
				// Then it must be an index in good order.
				if again, err := Decode(bytes.NewReader(encoded(t, x)), Limits{}); err != nil || describe(again) != describe(x) {
					t.Fatalf("byte %d set to %#x: what was taken does not survive: %v", i, v, err)
				}
			case errors.Is(err, ErrDamaged), errors.Is(err, ErrLimit):
				refused++
			default:
				t.Fatalf("byte %d set to %#x: %v", i, v, err)
			}
		}
	}
	for cut := range plain {
		if _, err := Decode(bytes.NewReader(sealed(t, plain[:cut])), Limits{}); !errors.Is(err, ErrDamaged) {
			t.Fatalf("content cut at byte %d: %v", cut, err)
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

func TestDecodeKeepsItsLimits(t *testing.T) {
	good := encoded(t, mustRead(t, lines(variedBlobs())))
	if _, err := Decode(bytes.NewReader(good), Limits{IndexBytes: int64(len(good)) - 1}); !errors.Is(err, ErrLimit) {
		t.Errorf("larger than the limit: %v, want %v", err, ErrLimit)
	}
	if _, err := Decode(&repeat{text: encodingMagic, n: 2 << 30}, Limits{IndexBytes: 1 << 20}); !errors.Is(err, ErrLimit) {
		t.Errorf("2 GB: %v, want %v", err, ErrLimit)
	}
	// A bomb: 64 MB of noughts pack into a few kilobytes.
	if _, err := Decode(bytes.NewReader(sealed(t, make([]byte, 64<<20))), Limits{IndexBytes: 1 << 20}); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrLimit) {
		t.Errorf("a bomb: %v", err)
	}
	broken := errors.New("the disk is gone")
	if _, err := Decode(iotest.ErrReader(broken), Limits{}); !errors.Is(err, broken) {
		t.Errorf("a reader's error: %v, want %v", err, broken)
	}
	if _, err := Decode(strings.NewReader("olmgate-index-0\n"), Limits{}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "version") {
		t.Errorf("another format version: %v", err)
	}
}

func TestEncodeReportsAWriterThatFails(t *testing.T) {
	x := mustRead(t, lines(kilnBlobs))
	for left := range 3 {
		if err := x.Encode(&failing{left: left}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("the writer fails after %d writes: %v", left, err)
		}
	}
}

type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left == 0 {
		return 0, io.ErrShortWrite
	}
	f.left--
	return len(p), nil
}

// content is the plain content of an encoded index.
func content(t testing.TB, text []byte) []byte {
	t.Helper()
	plain, done, err := decompress(bytes.NewReader(text[len(encodingMagic)+sha256.Size:]))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	all, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sealed is an encoded index with this content and the right checksum.
func sealed(t testing.TB, plain []byte) []byte {
	t.Helper()
	packed := zstded(t, plain)
	sum := sha256.Sum256(packed)
	return append(append([]byte(encodingMagic), sum[:]...), packed...)
}

// TestATextThatIsReferredToOftenIsBounded has a small file that would take much memory or time.
func TestATextThatIsReferredToOftenIsBounded(t *testing.T) {
	long := "1.0.0-" + strings.Repeat("a.", 50_000) + "a"
	version, err := semver.Parse(long)
	if err != nil {
		t.Fatal(err)
	}
	bundles := make([]Bundle, 50)
	for i := range bundles {
		bundles[i] = Bundle{Name: "b", Version: version}
	}
	names, name := make([]Bundle, 200), strings.Repeat("n", 200_000)
	for i := range names {
		names[i] = Bundle{Name: name, Problem: "p"}
	}
	for name, list := range map[string][]Bundle{"versions": bundles, "names": names} {
		text := encoded(t, &Index{packages: []Package{{Name: "p", Bundles: list}}})
		if _, err := Decode(bytes.NewReader(text), Limits{IndexBytes: 16 << 20, TotalBytes: 16 << 20}); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %d bytes: %v, want %v", name, len(text), err, ErrLimit)
		}
	}
}

func TestManyAreDecodedUnderOneLimit(t *testing.T) {
	one, other := encoded(t, mustRead(t, lines(kilnBlobs))), encoded(t, &Index{})
	indexes, problems := DecodeAll([][]byte{one, []byte("x"), other, one}, Limits{})
	for i, want := range []error{nil, ErrDamaged, nil, nil} {
		if !errors.Is(problems[i], want) || (indexes[i] == nil) != (want != nil) {
			t.Errorf("%d: got %v, %v", i, indexes[i], problems[i])
		}
	}
	if describe(indexes[0]) != describe(indexes[3]) {
		t.Error("two of the same differ")
	}
	many := make([][]byte, 100)
	for i := range many {
		many[i] = one
	}
	_, problems = DecodeAll(many, Limits{IndexBytes: 20 << 10})
	// Which of them the limit leaves room for is up to the scheduler.
	if fit := slices.Contains(problems, nil); !fit || !errors.Is(errors.Join(problems...), ErrLimit) {
		t.Errorf("some fit: %v; got %v", fit, errors.Join(problems...))
	}
	if indexes, problems := DecodeAll(nil, Limits{}); len(indexes)+len(problems) != 0 {
		t.Errorf("got %v, %v", indexes, problems)
	}
}
