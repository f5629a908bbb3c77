package tablefile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
)

var (
	// ErrDiffers: two files do not have the same rows, columns or values where they must.
	ErrDiffers = errors.New("the files differ")
	// ErrSurvives: a value of a column that was replaced is in the new file.
	ErrSurvives = errors.New("an old value is in the new file")
)

// Verdict is what a comparison of two files found.
type Verdict struct {
	Rows    int64 // of the new file
	Columns []ColumnVerdict
	// Searched is how many different values of replaced columns were looked for in the bytes of the new file. Shown is how many of them the new
	// values hold themselves, whole: they were left as they were, or are part of a new value by chance. They are not looked for elsewhere.
	Searched, Shown int
	// Survived is how many others were found; then Err wraps ErrSurvives.
	Survived int
	Err      error // of the search, or of what concerns the whole file
}

// ColumnVerdict is what was found of one column.
type ColumnVerdict struct {
	Name     string
	Replaced bool
	Bytes    bool  // every chunk (Parquet) or cell (CSV) is equal byte for byte
	Err      error // nil: equal, or equal to what is made of the old values
}

// OK says whether nothing is wrong.
func (v *Verdict) OK() bool {
	return v.Err == nil && !slices.ContainsFunc(v.Columns, func(c ColumnVerdict) bool { return c.Err != nil })
}

// Verify proves that the Parquet file after is before with some columns replaced. It checks that both have the same columns and rows; that all other
// columns are equal, byte for byte or at least by value; that the new columns are what Apply makes of the old ones; and that no old value of text
// or binary with more than 4 bytes is anywhere in after: not in what is outside its pages (footer, indexes, filters, gaps), nor in the pages
// of the new columns, compressed or not. The pages of other columns may of course hold equal values of their own. An error is returned when
// the files cannot be compared; what a comparison finds is in the verdict. Columns that are equal byte for byte need not be readable.
func Verify(ctx context.Context, before, after string, reps func(*Rewriter) ([]Replacement, error), opts ReadOptions) (*Verdict, error) {
	a, err := OpenRewriter(ctx, before, opts)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	all, err := reps(a)
	if err != nil {
		return nil, err
	}
	plan, err := a.plan(all)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", before, err)
	}
	b, err := OpenRewriter(ctx, after, opts)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	v := &chunkVerifier{verifier: newVerifier(len(a.file.tops)), a: a, b: b, plan: plan}
	for i, rep := range plan.reps {
		v.masked[i] = rep != nil
	}
	return v.verify(ctx)
}

// verifier is what all comparisons have in common.
type verifier struct {
	masked  []bool // by top-level column
	needles *needles
	shown   map[uint64]bool // needles that new values hold
	excused map[uint64]bool // needles that names and statistics of other columns hold
	found   map[uint64]bool // needles that are in the file
	out     Verdict
}

func newVerifier(columns int) verifier {
	return verifier{masked: make([]bool, columns), needles: newNeedles(), shown: map[uint64]bool{}, excused: map[uint64]bool{}, found: map[uint64]bool{}}
}

// The targets of a search.
func (v *verifier) show(h uint64)   { v.shown[h] = true }
func (v *verifier) excuse(h uint64) { v.excused[h] = true }
func (v *verifier) hit(h uint64)    { v.found[h] = true }

// conclude counts what the search found.
func (v *verifier) conclude() *Verdict {
	out := &v.out
	out.Searched, out.Shown = len(v.needles.set), len(v.shown)
	for h := range v.found {
		if !v.shown[h] && !v.excused[h] {
			out.Survived++
		}
	}
	if out.Survived > 0 {
		out.Err = fmt.Errorf("%w: %d of the %d values of columns that were replaced", ErrSurvives, out.Survived, out.Searched)
	}
	return out
}

// showValues finds the old values that new ones hold: those of the columns of r at places, which are the columns of the table.
func (v *verifier) showValues(ctx context.Context, r Reader, places []int) error {
	return eachBatch(ctx, r, func(batch arrow.RecordBatch) error {
		for k, i := range places {
			if !v.masked[i] || v.out.Columns[i].Err != nil {
				continue
			}
			eachRowValue(batch.Column(k), func(value []byte) { v.needles.find(value, needleMin, v.show) })
		}
		return nil
	})
}

// chunkVerifier compares two Parquet files column by column.
type chunkVerifier struct {
	verifier
	a, b *Rewriter
	plan *rewritePlan
}

func (v *chunkVerifier) verify(ctx context.Context) (*Verdict, error) {
	out := &v.out
	out.Rows = v.b.NumRows()
	if v.a.NumRows() != v.b.NumRows() || len(v.a.file.tops) != len(v.b.file.tops) {
		out.Err = fmt.Errorf("%w: %d rows and %d columns became %d and %d", ErrDiffers, v.a.NumRows(), len(v.a.file.tops), v.b.NumRows(), len(v.b.file.tops))
		return out, nil
	}
	out.Columns = make([]ColumnVerdict, len(v.a.file.tops))
	for i, top := range v.a.file.tops {
		c := &out.Columns[i]
		c.Name, c.Replaced = top.name, v.masked[i]
		switch {
		case v.b.file.tops[i].name != top.name:
			c.Err = fmt.Errorf("%w: it is column %q in the new file", ErrDiffers, v.b.file.tops[i].name)
		case c.Replaced:
			c.Err = v.compare(ctx, i, v.plan.reps[i])
		default:
			if c.Bytes, c.Err = v.sameBytes(i); c.Err == nil && !c.Bytes {
				c.Err = v.compare(ctx, i, nil)
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if len(v.needles.set) == 0 {
		return out, nil
	}
	if err := v.search(ctx); err != nil {
		return nil, err
	}
	return v.conclude(), nil
}

// search looks for old values in the new file.
func (v *chunkVerifier) search(ctx context.Context) error {
	for i := range v.masked {
		if !v.masked[i] || v.out.Columns[i].Err != nil {
			continue
		}
		r, err := v.b.Columns(ctx, i)
		if err != nil {
			return err
		}
		err = v.showValues(ctx, r, []int{i})
		r.Close()
		if err != nil {
			return err
		}
	}
	if err := v.excuseOld(); err != nil {
		return err
	}
	return v.searchParquet(ctx, v.b.file)
}

// excuseOld finds the old values that the old file holds in the names of columns and in the metadata of columns that stay: what is copied of those
// is their own.
func (v *chunkVerifier) excuseOld() error {
	for _, e := range v.a.file.schema {
		v.needles.find(e, needleMin, v.excuse)
	}
	v.needles.find([]byte(v.a.file.created), needleMin, v.excuse)
	return eachChunk(v.a.file, func(i int, raw []byte, c *columnChunk) error {
		if v.masked[i] {
			return nil
		}
		v.needles.find(raw, needleMin, v.excuse)
		for _, e := range c.extras(v.a.file) {
			if e.at == metaBloomAt {
				continue
			}
			if err := v.needles.findIn(v.a.file.src, e.span, needleMin, v.excuse); err != nil {
				return err
			}
		}
		return nil
	})
}

// sameBytes says whether a column has the same type and its pages the same bytes in both files.
func (v *chunkVerifier) sameBytes(i int) (bool, error) {
	s, t := v.a.file.tops[i], v.b.file.tops[i]
	if !slices.EqualFunc(v.a.file.schema[s.elemFrom:s.elemTo], v.b.file.schema[t.elemFrom:t.elemTo], bytes.Equal) || len(v.a.file.groups) != len(v.b.file.groups) {
		return false, nil
	}
	for g := range v.a.file.groups {
		ga, err := v.a.file.group(g)
		if err != nil {
			return false, err
		}
		gb, err := v.b.file.group(g)
		if err != nil || ga.rows != gb.rows {
			return false, err
		}
		for k := range s.leafTo - s.leafFrom {
			ca, err := v.a.file.chunk(ga, s.leafFrom+k)
			if err != nil {
				return false, err
			}
			cb, err := v.b.file.chunk(gb, t.leafFrom+k)
			if err != nil {
				return false, err
			}
			if same, err := v.samePages(ca, cb); !same || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

func (v *chunkVerifier) samePages(a, b *columnChunk) (bool, error) {
	toA, err := walkPages(v.a.file.src, a, v.a.file.end, nil)
	if err != nil {
		return false, err
	}
	toB, err := walkPages(v.b.file.src, b, v.b.file.end, nil)
	if err != nil {
		return false, err
	}
	if a.values != b.values || a.codec != b.codec || toA-a.from != toB-b.from {
		return false, nil
	}
	var bufs [2][64 << 10]byte
	for at := int64(0); at < toA-a.from; {
		n := min(int64(len(bufs[0])), toA-a.from-at)
		x, y := bufs[0][:n], bufs[1][:n]
		if _, err := v.a.file.src.ReadAt(x, a.from+at); err != nil {
			return false, err
		}
		if _, err := v.b.file.src.ReadAt(y, b.from+at); err != nil {
			return false, err
		}
		if !bytes.Equal(x, y) {
			return false, nil
		}
		at += n
	}
	return true, nil
}

// compare compares the values of a column, those of the old file replaced when rep is not nil. The old ones are then remembered, to be looked for.
func (v *chunkVerifier) compare(ctx context.Context, i int, rep *replacement) error {
	columns := []int{i}
	if rep != nil {
		columns = rep.columns
	}
	ra, err := v.a.Columns(ctx, columns...)
	if err != nil {
		return err
	}
	defer ra.Close()
	rb, err := v.b.Columns(ctx, i)
	if err != nil {
		return err
	}
	defer rb.Close()
	want := &cursor{r: ra, change: func(ctx context.Context, old arrow.RecordBatch) ([]arrow.Array, error) {
		if rep == nil {
			return retained(old.Columns()), nil
		}
		eachLeaf(old.Column(0), v.needles.add)
		made, err := rep.apply(ctx, old.Columns()...)
		return []arrow.Array{made}, err
	}}
	diffs, err := compareRows(ctx, want, &cursor{r: rb}, 1)
	return cmp.Or(diffs[0], err)
}
