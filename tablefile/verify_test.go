package tablefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/arrowmask/arrowmask/internal/thrift"
)

// Verify finds what a bad tool would do.
func TestVerifyFindsFaults(t *testing.T) {
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy} {
		in := rich(t, richOptions{rows: 600, groups: 2, codec: codec})
		good, _ := mustRewrite(t, in, hashColumn("secret"))
		bytesOf := []byte(readText(t, good))
		p := footOf(t, good)
		pages, foot := bytesOf[:p.end:p.end], p.foot
		for name, c := range map[string]struct {
			file []byte
			want error
		}{
			"as it is":          {bytesOf, nil},
			"in a gap":          {endParquet(append(bytes.Clone(pages), "SECRET-000003"...), foot), ErrSurvives},
			"across parts":      {endParquet(append(bytes.Clone(pages), strings.Repeat("-", 1<<20-len(pages)-5)+"SECRET-000003 "...), foot), ErrSurvives},
			"in metadata":       {endParquet(pages, withMetadata(foot, "pandas", "min SECRET-000003")), ErrSurvives},
			"in stored schema":  {endParquet(pages, withMetadata(foot, storedKey, "eFNFQ1JFVC0wMDAwMDN4")), ErrSurvives},
			"in an extra field": {endParquet(pages, foot.WithBytes(99, []byte("SECRET-000003"))), ErrSurvives},
			"not a value":       {endParquet(pages, foot.WithBytes(99, []byte("SECRET-00000, SECRE"))), nil},
			"of another column": {endParquet(pages, foot.WithBytes(99, []byte("plain-000001"))), nil},
			"a byte of a page":  {flipByte(t, good, 2), ErrDiffers},
			"the rows":          {endParquet(pages, foot.WithInt(fileNumRows, thrift.I64, 1201)), ErrMalformed},
		} {
			t.Run(fmt.Sprint(codec, " ", name), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "after.parquet")
				if err := os.WriteFile(path, c.file, 0o600); err != nil {
					t.Fatal(err)
				}
				v, err := Verify(context.Background(), in, path, func(r *Rewriter) ([]Replacement, error) {
					return []Replacement{hashColumn("secret")(r)}, nil
				}, ReadOptions{})
				if err == nil {
					err = v.Err
					for _, c := range v.Columns {
						if err == nil {
							err = c.Err
						}
					}
				}
				if c.want == nil && err != nil || c.want != nil && !isClass(err, c.want, ErrMalformed) {
					t.Errorf("error %v, want %v", err, c.want)
				}
				if err != nil && strings.Contains(err.Error(), "SECRET") {
					t.Errorf("the error quotes a value: %v", err)
				}
			})
		}
		// Not masked at all, and another column masked too.
		if v := verifyHashed(t, in, in); v.OK() || v.Survived != 40 {
			t.Errorf("%v, not masked: %+v", codec, v)
		}
		both, _ := mustRewrite(t, in, hashColumn("secret"), hashColumn("keep"))
		if v := verifyHashed(t, in, both); !errors.Is(v.Columns[2].Err, ErrDiffers) || v.Columns[1].Err != nil {
			t.Errorf("%v, another column masked: %+v", codec, v)
		}
	}
}

func withMetadata(foot thrift.Struct, key, value string) thrift.Struct {
	return foot.WithList(fileKeyValues, keyValues(key, []byte(value)))
}

// flipByte changes the last byte of the last page of a column.
func flipByte(t *testing.T, path string, leaf int) []byte {
	t.Helper()
	p := footOf(t, path)
	group, err := p.group(0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.chunk(group, leaf)
	if err != nil {
		t.Fatal(err)
	}
	b := []byte(readText(t, path))
	b[c.to-1] ^= 1
	return b
}

// A file that was decoded and encoded as a whole verifies too: its columns are equal by value.
func TestVerifyByValue(t *testing.T) {
	in := rich(t, richOptions{rows: 600, groups: 2, codec: compress.Codecs.Snappy})
	rewritten, _ := mustRewrite(t, in, hashColumn("secret"))
	out := filepath.Join(t.TempDir(), "streamed.parquet")
	if err := copyTable(rewritten, out, ReadOptions{}, WriteOptions{Compression: Zstd}); err != nil {
		t.Fatal(err)
	}
	v := verifyHashed(t, in, out)
	if !v.OK() || v.Columns[0].Bytes || v.Columns[3].Bytes || v.Searched != 40 {
		t.Errorf("%+v", v)
	}
}

func identity(_ context.Context, old arrow.Array) (arrow.Array, error) {
	old.Retain()
	return old, nil
}

// What a mask shows itself is counted, not reported as found.
func TestVerifyShown(t *testing.T) {
	in := rich(t, richOptions{rows: 600, groups: 1, codec: compress.Codecs.Snappy})
	same := func(r *Rewriter) Replacement {
		x := hashColumn("secret")(r)
		x.Apply = alone(identity)
		return x
	}
	out, _ := mustRewrite(t, in, same)
	v, err := Verify(context.Background(), in, out, func(r *Rewriter) ([]Replacement, error) { return []Replacement{same(r)}, nil }, ReadOptions{})
	if err != nil || !v.OK() || v.Searched != 40 || v.Shown != 40 || v.Survived != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// The search finds what a plain search finds.
func TestNeedles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 3<<20)
	for i := range text {
		text[i] = "ab"[rnd.IntN(2)]
	}
	src := memorySource("text", text)
	for _, size := range []int{4, 5, 7, 8, 12, 20, 40, 300} {
		for range 5 {
			at := rnd.IntN(len(text) - size)
			if size == 40 {
				at = 1<<20 - 20 - rnd.IntN(5) // across the parts
			}
			there, other := text[at:at+size], bytes.Repeat([]byte("c"), size)
			n := newNeedles()
			n.add(there)
			n.add(other)
			hits := map[uint64]bool{}
			if err := n.findIn(src, span{0, int64(len(text))}, needleMin, func(h uint64) { hits[h] = true }); err != nil {
				t.Fatal(err)
			}
			if want := min(1, max(0, size-4)); len(hits) != want {
				t.Errorf("size %d at %d: %d found, want %d", size, at, len(hits), want)
			}
		}
	}
}

// fuzzMemory bounds what a rewrite and its verification allocate in all: a page may claim 256 MiB, and is read a few times.
const fuzzMemory = 2 << 30

// Damaged footers, page headers, indexes and pages: an error, or a new file that verifies. Never a panic, and bounded memory.
func FuzzRewrite(f *testing.F) {
	var seeds [][]byte
	var heads [][]int
	for _, o := range []richOptions{{rows: 60, groups: 2, codec: compress.Codecs.Uncompressed}, {rows: 60, groups: 1, codec: compress.Codecs.Snappy, version: 1}} {
		path := rich(f, o)
		seeds, heads = append(seeds, []byte(readText(f, path))), append(heads, headBytes(f, path))
	}
	for s := range seeds {
		end := len(seeds[s])
		f.Add(s, 2*(end-10)+1, byte(1), 2*(end-40)+1, byte(0xff))
		f.Add(s, 11, byte(3), 13, byte(0x80))
		f.Add(s, 2*(end-200)+1, byte(7), 2*(end-300)+1, byte(1))
		for at := range len(heads[s]) / 40 {
			f.Add(s, 80*at, byte(1)<<(at%8), 80*at+2*(at%39), byte(0x80))
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, seed, at int, flip byte, at2 int, flip2 byte) {
		if seed < 0 || seed >= len(seeds) || at < 0 || at2 < 0 {
			return
		}
		b := bytes.Clone(seeds[seed])
		place := func(at int) int { // even: a byte that tells of others; odd: any
			if h := heads[seed]; at%2 == 0 {
				return h[at/2%len(h)]
			}
			return at / 2 % len(b)
		}
		b[place(at)] ^= flip
		b[place(at2)] ^= flip2
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		defer func() {
			var after runtime.MemStats
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > fuzzMemory {
				t.Errorf("%d MiB were allocated for a file of %d bytes", n>>20, len(b))
			}
		}()
		path, out := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "out.parquet")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		r, err := OpenRewriter(ctx, path, ReadOptions{})
		if err != nil {
			return
		}
		defer r.Close()
		at1 := r.Schema().FieldIndices("secret")
		if len(at1) != 1 || r.Schema().Field(at1[0]).Type.ID() != arrow.STRING {
			return
		}
		reps := func(r *Rewriter) ([]Replacement, error) { return []Replacement{hashColumn("secret")(r)}, nil }
		all, _ := reps(r)
		w, err := r.Rewrite(ctx, out, all, RewriteOptions{Overwrite: true})
		if err != nil {
			return
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		v, err := Verify(ctx, path, out, reps, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if v.Err != nil || v.Columns[at1[0]].Err != nil {
			t.Fatalf("%+v", v)
		}
		for _, c := range v.Columns { // a damaged column that stays is copied with its damage
			if c.Err != nil && !c.Bytes {
				t.Fatalf("%+v", c)
			}
		}
	})
}

// headBytes lists the places of all bytes that tell of others: the footer, indexes, filters and page headers.
func headBytes(t testing.TB, path string) []int {
	t.Helper()
	p := footOf(t, path)
	body := make([]bool, p.src.size)
	err := eachChunk(p, func(_ int, _ []byte, c *columnChunk) error {
		_, err := walkPages(p.src, c, p.end, func(q *page) error {
			for at := q.body.from; at < q.body.to; at++ {
				body[at] = true
			}
			return nil
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var heads []int
	for at, is := range body {
		if !is {
			heads = append(heads, at)
		}
	}
	return heads
}
