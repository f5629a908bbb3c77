package tablefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
)

// Rewriter makes a Parquet file from another in which some top-level columns are replaced. The pages of all other columns are copied as bytes, with
// their encodings, compression, statistics, page indexes and bloom filters, whatever their types; only the columns to replace are decoded.
// Row groups stay as they are. It is not safe for concurrent use.
type Rewriter struct {
	file   *parquetFile
	opts   ReadOptions
	stored *storedSchema
	sc     *arrow.Schema
	bad    []error // by column: why it cannot be decoded
}

// Replacement is what becomes of one top-level column.
type Replacement struct {
	Column int         // its index in the schema
	Field  arrow.Field // the new column; its name and place stay
	// Reads are the columns, each once, whose old values the new ones are made from; nil: Column alone.
	Reads []int
	// Apply makes the new values of some rows, of type Field.Type and as many, from arrays of the old types, in the order of Reads. It is called
	// from several goroutines. The caller releases all arrays.
	Apply func(ctx context.Context, old []arrow.Array) (arrow.Array, error)
	// PerValue promises that each new value depends on the old value of Column alone, not on its row or its neighbours. Then a column chunk that is
	// wholly dictionary-encoded may have its dictionary replaced and keep its indices; Apply sees each value of the dictionary once.
	PerValue bool
}

// Way is how a column chunk gets into the new file.
type Way uint8

const (
	Copied         Way = iota // its bytes are copied
	DictionaryOnly            // the values of its dictionary are replaced and its indices copied
	Encoded                   // it is decoded, replaced and encoded
)

func (w Way) String() string {
	switch w {
	case Copied:
		return "copied"
	case DictionaryOnly:
		return "dictionary"
	}
	return "encoded"
}

// ColumnWays tells how the chunks of one column get into the new file: how many go each way, and why.
type ColumnWays struct {
	Chunks [3]int // by Way
	Why    string // why the first encoded one is not DictionaryOnly; empty when there is none
}

func (w *ColumnWays) add(way Way, why string) {
	w.Chunks[way]++
	if w.Why == "" {
		w.Why = why
	}
}

// OpenRewriter opens the Parquet file at path; "-" is standard input. Of opts it uses BatchRows, Mem, Threads and VerifyChecksums. It fails
// for encrypted files. That a column cannot be decoded is no error as long as nobody wants to: see Unreadable.
func OpenRewriter(ctx context.Context, path string, opts ReadOptions) (*Rewriter, error) {
	opts.Format = Parquet
	opts = opts.withDefaults()
	src, err := openSource(ctx, path, true)
	if err != nil {
		return nil, err
	}
	r := &Rewriter{opts: opts}
	if r.file, err = openParquetFile(src); err == nil {
		err = r.file.checkChunks(ctx, opts.VerifyChecksums)
	}
	if err != nil {
		src.Close()
		return nil, fmt.Errorf("%s: %w", src.name, err)
	}
	r.stored = r.file.readStored()
	r.findSchema(ctx)
	return r, nil
}

// findSchema asks the decoder for the types of all columns, and when it fails, column by column.
func (r *Rewriter) findSchema(ctx context.Context) {
	all := make([]int, len(r.file.tops))
	for i := range all {
		all[i] = i
	}
	r.bad = make([]error, len(all))
	if sc, err := r.schemaOf(ctx, all); err == nil {
		r.sc = sc
		return
	}
	fields := make([]arrow.Field, len(all))
	for i, t := range r.file.tops {
		sc, err := r.schemaOf(ctx, []int{i})
		if r.bad[i] = err; err != nil {
			fields[i] = arrow.Field{Name: t.name, Type: arrow.Null, Nullable: true}
		} else {
			fields[i] = sc.Field(0)
		}
	}
	r.sc = arrow.NewSchema(fields, nil)
}

func (r *Rewriter) schemaOf(ctx context.Context, columns []int) (*arrow.Schema, error) {
	d, err := r.decoder(ctx, columns, nil)
	if err != nil {
		return nil, err
	}
	defer d.close()
	for i, f := range d.sc.Fields() {
		if f.Name != r.file.tops[columns[i]].name {
			return nil, fmt.Errorf("column %q: %w: the decoder calls it otherwise", f.Name, ErrUnsupported)
		}
	}
	return d.sc, nil
}

// decoder reads some top-level columns of some row groups.
func (r *Rewriter) decoder(ctx context.Context, columns, groups []int) (*parquetDecoder, error) {
	src, err := r.file.project(columns, groups, r.stored)
	if err != nil {
		return nil, malformed("reading the footer", err)
	}
	return newParquetDecoder(ctx, src, r.opts)
}

// Schema is the schema of the file. A column that cannot be decoded has the type null; see Unreadable.
func (r *Rewriter) Schema() *arrow.Schema { return r.sc }

// Unreadable says why column i cannot be decoded, hence not be replaced; nil when it can, as far as the footer tells.
func (r *Rewriter) Unreadable(i int) error { return r.bad[i] }

// NumRows is the number of rows the file declares.
func (r *Rewriter) NumRows() int64 { return r.file.rows }

// Size is the input's size in bytes.
func (r *Rewriter) Size() int64 { return r.file.src.size }

// BytesRead counts the bytes read so far. It is safe to call from another goroutine.
func (r *Rewriter) BytesRead() int64 { return r.file.src.read.Load() }

// Columns reads some top-level columns only, all rows. The reader must not be used after Close of r.
func (r *Rewriter) Columns(ctx context.Context, columns ...int) (Reader, error) {
	groups := make([]int, len(r.file.groups))
	for g := range groups {
		groups[g] = g
	}
	for _, c := range columns {
		if err := r.bad[c]; err != nil {
			return nil, fmt.Errorf("%s: %w", r.file.src.name, err)
		}
	}
	d, err := r.decoder(ctx, columns, groups)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.file.src.name, err)
	}
	return &reader{decoder: d, ctx: ctx, src: &source{name: r.file.src.name, size: r.file.src.size}}, nil
}

// Close frees the file.
func (r *Rewriter) Close() error { return r.file.src.Close() }

// Ways tells for every column of the file how it would get into the new one.
func (r *Rewriter) Ways(ctx context.Context, reps []Replacement) ([]ColumnWays, error) {
	plan, err := r.plan(reps)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.file.src.name, err)
	}
	ways := make([]ColumnWays, len(r.file.tops))
	for i, t := range r.file.tops {
		rep := plan.reps[i]
		if rep == nil {
			ways[i].Chunks[Copied] = len(r.file.groups) * (t.leafTo - t.leafFrom)
			continue
		}
		for g := range r.file.groups {
			way, why, err := r.wayOf(ctx, rep, g)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.file.src.name, err)
			}
			ways[i].add(way, why)
		}
	}
	return ways, nil
}

// rewritePlan is what becomes of every column.
type rewritePlan struct {
	reps    []*replacement // by top-level column; nil: copied
	private []span         // of the file: what belongs to columns that are replaced, sorted
}

// replacement is a Replacement that was checked.
type replacement struct {
	Replacement
	leaf    int // its one column chunk in every row group
	old     arrow.Field
	name    string
	elem    []byte // the element of the new schema
	columns []int  // to decode: Column, then what else is read
	args    []int  // of Apply, as places in columns
}

// newReplacement finds out which columns have to be decoded.
func (r *Rewriter) newReplacement(rep Replacement) (*replacement, error) {
	top := r.file.tops[rep.Column]
	rep.Field.Name = top.name
	x := &replacement{Replacement: rep, leaf: top.leafFrom, old: r.sc.Field(rep.Column), name: top.name, columns: []int{rep.Column}, args: []int{0}}
	if rep.Reads == nil {
		return x, nil
	}
	x.args = nil
	for _, c := range rep.Reads {
		if err := r.bad[c]; err != nil {
			return nil, err
		}
		at := slices.Index(x.columns, c)
		if at < 0 {
			at = len(x.columns)
			x.columns = append(x.columns, c)
		}
		x.args = append(x.args, at)
	}
	x.PerValue = x.PerValue && slices.Equal(rep.Reads, x.columns[:1])
	return x, nil
}

var errNested = errors.New("a nested column cannot be replaced")

// plan checks the replacements and finds out which bytes of the file must not be copied.
func (r *Rewriter) plan(reps []Replacement) (*rewritePlan, error) {
	plan := &rewritePlan{reps: make([]*replacement, len(r.file.tops))}
	for _, rep := range reps {
		top := r.file.tops[rep.Column]
		what := fmt.Sprintf("column %q", top.name)
		switch {
		case plan.reps[rep.Column] != nil:
			return nil, fmt.Errorf("%s: %w: it is replaced twice", what, ErrUnsupported)
		case r.bad[rep.Column] != nil:
			return nil, r.bad[rep.Column]
		case top.elemTo-top.elemFrom != 1 || top.leafTo-top.leafFrom != 1:
			return nil, fmt.Errorf("%s: %w: %w", what, ErrUnsupported, errNested)
		}
		if _, list := r.sc.Field(rep.Column).Type.(arrow.ListLikeType); list {
			return nil, fmt.Errorf("%s: %w: %w", what, ErrUnsupported, errNested)
		}
		var err error
		if plan.reps[rep.Column], err = r.newReplacement(rep); err != nil {
			return nil, err
		}
	}
	for g := range r.file.groups {
		group, err := r.file.group(g)
		if err != nil {
			return nil, malformed("reading the footer", err)
		}
		for _, rep := range plan.reps {
			if rep == nil {
				continue
			}
			c, err := r.file.chunk(group, rep.leaf)
			if err != nil {
				return nil, malformed(fmt.Sprintf("column %q", rep.name), err)
			}
			plan.private = append(plan.private, c.span)
			for _, extra := range c.extras(r.file) {
				plan.private = append(plan.private, extra.span)
			}
		}
	}
	plan.private = mergeSpans(plan.private)
	return plan, nil
}

// mergeSpans sorts spans and joins those that overlap.
func mergeSpans(all []span) []span {
	all = slices.DeleteFunc(all, func(s span) bool { return s.from >= s.to })
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	merged := all[:0]
	for _, s := range all {
		if n := len(merged); n > 0 && s.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, s.to)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

// mayCopy refuses bytes that belong to a column that is replaced: a damaged footer may have one column point into another.
func (p *rewritePlan) mayCopy(s span) error {
	i, _ := slices.BinarySearchFunc(p.private, s.from, func(q span, from int64) int { return cmp.Compare(q.to, from+1) })
	if s.from < s.to && i < len(p.private) && p.private[i].overlaps(s) {
		return fmt.Errorf("%w: it shares bytes with a column that is replaced", ErrMalformed)
	}
	return nil
}

// wayOf decides how a chunk of a column that is replaced is made. It reads the dictionary, and leaves the indices
// unread: whether all values of the dictionary are in use shows only when the chunk is made.
func (r *Rewriter) wayOf(ctx context.Context, rep *replacement, g int) (Way, string, error) {
	d, why, err := r.dictionaryOf(ctx, rep, g)
	if err != nil || d == nil {
		return Encoded, why, err
	}
	v, why, err := r.newDictionary(ctx, rep, d)
	if err != nil || v == nil {
		return Encoded, why, err
	}
	return DictionaryOnly, "", nil
}
