package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/blang/semver/v4"
	"github.com/klauspost/compress/zstd"
)

// encodingMagic names the format and its version. A reader takes no other.
const encodingMagic = "olmgate-index-1\n"

// ErrDamaged is wrapped when an encoded index is cut short, altered, or of another format version.
var ErrDamaged = errors.New("damaged index")

// Encode writes the index in a compact form: the magic line, the SHA-256 of the rest, and the compressed content.
// Equal indexes encode to equal bytes.
func (x *Index) Encode(w io.Writer) error {
	e := encoder{at: map[string]uint64{}}
	e.index(x)
	var plain bytes.Buffer
	head := binary.AppendUvarint(nil, uint64(len(e.table)))
	for _, s := range e.table {
		head = binary.AppendUvarint(head, uint64(len(s)))
		head = append(head, s...)
	}
	plain.Write(head)
	plain.Write(e.out)
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return fmt.Errorf("compressing the index: %w", err)
	}
	packed := z.EncodeAll(plain.Bytes(), nil)
	if err := z.Close(); err != nil {
		return fmt.Errorf("compressing the index: %w", err)
	}
	sum := sha256.Sum256(packed)
	for _, part := range [][]byte{[]byte(encodingMagic), sum[:], packed} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("writing the index: %w", err)
		}
	}
	return nil
}

// encoder writes numbers as varints and strings as numbers of a table.
type encoder struct {
	table []string
	at    map[string]uint64
	out   []byte
}

func (e *encoder) num(n int) { e.out = binary.AppendUvarint(e.out, uint64(n)) }

func (e *encoder) str(s string) {
	i, ok := e.at[s]
	if !ok {
		i = uint64(len(e.table))
		e.table = append(e.table, s)
		e.at[s] = i
	}
	e.out = binary.AppendUvarint(e.out, i)
}

func (e *encoder) flag(b bool) {
	n := 0
	if b {
		n = 1
	}
	e.num(n)
}

func list[T any](e *encoder, items []T, item func(*T)) {
	e.num(len(items))
	for i := range items {
		item(&items[i])
	}
}

func (e *encoder) index(x *Index) {
	e.num(x.stats.Blobs)
	e.num(int(x.stats.Bytes))
	e.num(x.stats.Unknown)
	list(e, x.notes, func(n *Note) { e.str(n.Package); e.str(n.Message) })
	list(e, x.packages, func(p *Package) {
		e.str(p.Name)
		e.flag(p.Declared)
		e.str(p.DefaultChannel)
		list(e, p.Channels, func(c *Channel) {
			e.str(c.Name)
			list(e, c.Entries, func(n *Entry) {
				e.str(n.Name)
				e.str(n.Replaces)
				list(e, n.Skips, func(s *string) { e.str(*s) })
				e.str(n.SkipRange)
				e.flag(n.BadSkipRange)
			})
		})
		list(e, p.Bundles, e.bundle)
		list(e, p.Deprecations, func(d *Deprecation) { e.str(d.Schema); e.str(d.Name); e.str(d.Message) })
	})
}

func (e *encoder) bundle(b *Bundle) {
	e.str(b.Name)
	e.str(b.Image)
	e.str(b.Problem)
	if b.Problem == "" {
		e.str(b.Version.String())
		e.str(b.Release.String())
	}
	e.num(int(b.InstallModes))
	list(e, b.GVKs, func(g *GVK) { e.str(g.Group); e.str(g.Version); e.str(g.Kind) })
	list(e, b.Dependencies, func(p *Property) { e.str(p.Type); e.str(p.Value) })
}

// Decode reads what Encode wrote. Anything else is an error that wraps ErrDamaged; the limits bound what it may take.
func Decode(r io.Reader, limits Limits) (*Index, error) {
	limits = limits.withDefaults()
	raw, err := io.ReadAll(io.LimitReader(r, limits.IndexBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the index: %w", err)
	}
	if int64(len(raw)) > limits.IndexBytes {
		return nil, fmt.Errorf("%w: the encoded index is larger than %d bytes", ErrLimit, limits.IndexBytes)
	}
	return decode(raw, limits, newBudget(limits))
}

// DecodeAll reads several encoded indexes, two at a time. The limits bound what they take together. problems has the
// error of each, nil for those that are in order; after one that exceeds a limit, the others may fail too.
func DecodeAll(encoded [][]byte, limits Limits) (indexes []*Index, problems []error) {
	limits = limits.withDefaults()
	left := newBudget(limits)
	indexes, problems = make([]*Index, len(encoded)), make([]error, len(encoded))
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(2, len(encoded)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(encoded)); i = next.Add(1) - 1 {
				indexes[i], problems[i] = decode(encoded[i], limits, left)
			}
		})
	}
	wg.Wait()
	return indexes, problems
}

// budget is the memory, in bytes, that decoders may still take.
type budget struct{ left atomic.Int64 }

func newBudget(l Limits) *budget {
	b := &budget{}
	b.left.Store(l.IndexBytes)
	return b
}

func (b *budget) take(n int64) bool { return b.left.Add(-n) >= 0 }

func decode(raw []byte, limits Limits, left *budget) (*Index, error) {
	packed, ok := bytes.CutPrefix(raw, []byte(encodingMagic))
	if !ok {
		return nil, fmt.Errorf("%w: not an index of this version", ErrDamaged)
	}
	if len(packed) < sha256.Size {
		return nil, fmt.Errorf("%w: cut short", ErrDamaged)
	}
	if sum := sha256.Sum256(packed[sha256.Size:]); !bytes.Equal(sum[:], packed[:sha256.Size]) {
		return nil, fmt.Errorf("%w: the checksum does not match", ErrDamaged)
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(left.left.Load(), 1))))
	if err != nil {
		return nil, fmt.Errorf("decompressing the index: %w", err)
	}
	defer z.Close()
	plain, err := z.DecodeAll(packed[sha256.Size:], nil)
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return nil, errIndexLimit(limits)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	case !left.take(int64(len(plain))):
		return nil, errIndexLimit(limits)
	}
	d := decoder{in: plain, kept: newBuilder(limits), left: left, references: limits.TotalBytes}
	x := d.index()
	switch {
	case errors.Is(d.err, ErrLimit):
		return nil, d.err
	case d.err != nil || len(d.in) > 0:
		return nil, fmt.Errorf("%w: the content does not add up", ErrDamaged)
	}
	return x, nil
}

func errIndexLimit(l Limits) error {
	return fmt.Errorf("%w: the index would be larger than %d bytes", ErrLimit, l.IndexBytes)
}

// decoder reads what an encoder wrote; after the first fault everything is zero.
type decoder struct {
	in    []byte
	table []string
	kept  *builder // for lists that are shared
	left  *budget
	// references is how many bytes of text may still be referred to. A text of the table may be referred to often, and
	// sorting takes time by its length; no index of a catalog refers to more than the catalog's text.
	references int64
	err        error
}

func (d *decoder) fail() { d.stop(ErrDamaged) }

// stop keeps the first fault.
func (d *decoder) stop(err error) {
	if d.err == nil {
		d.err = err
	}
	d.in = nil
}

// take notes memory, in bytes, before it is used.
func (d *decoder) take(n int64) bool {
	if d.err == nil && !d.left.take(n) {
		d.stop(errIndexLimit(d.kept.limits))
	}
	return d.err == nil
}

func (d *decoder) num() int {
	n, size := binary.Uvarint(d.in)
	if size <= 0 || n > 1<<62 {
		d.fail()
		return 0
	}
	d.in = d.in[size:]
	return int(n)
}

func (d *decoder) str() string {
	i := d.num()
	if i >= len(d.table) {
		d.fail()
		return ""
	}
	s := d.table[i]
	if d.references -= int64(len(s)); d.references < 0 {
		d.stop(fmt.Errorf("%w: the texts of the index are larger than %d bytes", ErrLimit, d.kept.limits.TotalBytes))
		return ""
	}
	return s
}

func (d *decoder) flag() bool { return d.num() == 1 }

// items reads a list. Every item takes a byte at least, so a length beyond the rest is a fault, and what all lists
// take stays below the limit of an index.
func items[T any](d *decoder, item func(*T)) []T {
	n := d.num()
	if n > len(d.in) {
		d.fail()
		return nil
	}
	var one T
	if n == 0 || !d.take(int64(n)*int64(unsafe.Sizeof(one))) {
		return nil
	}
	out := make([]T, n)
	for i := range out {
		if item(&out[i]); d.err != nil {
			return nil
		}
	}
	return out
}

func (d *decoder) index() *Index {
	d.table = items(d, func(s *string) {
		n := d.num()
		if n > len(d.in) {
			d.fail()
			return
		}
		*s = d.kept.text.add(d.in[:n])
		d.in = d.in[n:]
	})
	x := &Index{}
	x.stats.Blobs, x.stats.Bytes, x.stats.Unknown = d.num(), int64(d.num()), d.num()
	x.notes = items(d, func(n *Note) { n.Package, n.Message = d.str(), d.str() })
	x.packages = items(d, d.pkg)
	for i := 1; i < len(x.packages); i++ {
		if x.packages[i-1].Name >= x.packages[i].Name {
			d.fail()
		}
	}
	x.count()
	return x
}

func (d *decoder) pkg(p *Package) {
	p.Name, p.Declared, p.DefaultChannel = d.str(), d.flag(), d.str()
	p.Channels = items(d, func(c *Channel) {
		c.Name = d.str()
		c.Entries = items(d, func(n *Entry) {
			n.Name, n.Replaces = d.str(), d.str()
			n.Skips = items(d, func(s *string) { *s = d.str() })
			n.SkipRange, n.BadSkipRange = d.str(), d.flag()
		})
	})
	p.Bundles = items(d, d.bundle)
	p.Deprecations = items(d, func(n *Deprecation) { n.Schema, n.Name, n.Message = d.str(), d.str(), d.str() })
	settle(p)
}

func (d *decoder) bundle(b *Bundle) {
	b.Name, b.Image, b.Problem = d.str(), d.str(), d.str()
	if b.Problem == "" {
		text := d.str()
		if !d.take(versionBytes(text)) {
			return
		}
		v, err := semver.Parse(text)
		if err != nil {
			d.fail()
			return
		}
		r, err := ParseRelease(d.str())
		if err != nil {
			d.fail()
			return
		}
		b.Version, b.Release = v, r
	}
	b.InstallModes = InstallModes(d.num())
	b.GVKs = d.kept.sharedGVKs(items(d, func(g *GVK) { g.Group, g.Version, g.Kind = d.str(), d.str(), d.str() }))
	b.Dependencies = items(d, func(p *Property) { p.Type, p.Value = d.str(), d.str() })
}

// versionBytes is about the memory, in bytes, that the identifiers of a version take.
func versionBytes(v string) int64 { return 64 * int64(strings.Count(v, ".")) }
