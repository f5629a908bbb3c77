package tablefile

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// Change is what makes the rows of a new file from those of an old one.
type Change struct {
	Schema *arrow.Schema // of the new rows
	Masked []int         // columns of the old schema whose old values must not be in the new file; the new schema has them at the same places
	// Apply makes the new rows of a batch of old ones; it may leave rows out. The caller releases both.
	Apply func(context.Context, arrow.RecordBatch) (arrow.RecordBatch, error)
}

// VerifyRows proves that the file after holds what change makes of the rows of before, whatever their formats: the same columns, the same rows in
// the same order, equal by value; and that no old value of a masked column with more than 4 bytes is anywhere in after outside of the other columns:
// not in dictionaries, metadata, unused bytes. In CSV that goes for values of all types as cells spell them, elsewhere for text and binary.
// Of opts, from are those that before was read with when after was made, to those that read after; its Schema and Raw follow from the change.
// An error is returned when the files cannot be compared; what a comparison finds is in the verdict.
func VerifyRows(ctx context.Context, before, after string, change func(*arrow.Schema) (*Change, error), from, to ReadOptions) (*Verdict, error) {
	a, err := Open(ctx, before, from)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	c, err := change(a.Schema())
	if err != nil {
		return nil, err
	}
	if to.Format == Auto {
		if to.Format, err = FormatOf(after); err != nil {
			return nil, err
		}
	}
	v := &rowVerifier{verifier: newVerifier(a.Schema().NumFields()), change: c, path: after, opts: to}
	for _, i := range c.Masked {
		v.masked[i] = true
	}
	return v.verify(ctx, a)
}

// rowVerifier compares two files of any formats row by row.
type rowVerifier struct {
	verifier
	change *Change
	path   string      // of the new file
	opts   ReadOptions // for the new file
}

func (v *rowVerifier) verify(ctx context.Context, a Reader) (*Verdict, error) {
	b, err := Open(ctx, v.path, v.typed())
	if err != nil {
		return nil, err
	}
	defer b.Close()
	out := &v.out
	if n, m := v.change.Schema.NumFields(), b.Schema().NumFields(); n != m {
		out.Err = fmt.Errorf("%w: %d columns became %d", ErrDiffers, n, m)
		return out, nil
	}
	rows := int64(0)
	want := &cursor{r: a, change: v.changed}
	got := &cursor{r: b, change: func(_ context.Context, batch arrow.RecordBatch) ([]arrow.Array, error) {
		rows += batch.NumRows()
		return retained(batch.Columns()), nil
	}}
	diffs, err := compareRows(ctx, want, got, len(v.masked))
	if err != nil && !isDifference(err) {
		return nil, err
	}
	out.Rows, out.Err = rows, err
	out.Columns = make([]ColumnVerdict, len(v.masked))
	for i, f := range v.change.Schema.Fields() {
		_, raw := rawDelimiter(f)
		c := &out.Columns[i]
		*c = ColumnVerdict{Name: f.Name, Replaced: v.masked[i], Bytes: raw, Err: diffs[i]}
		if name := b.Schema().Field(i).Name; name != f.Name {
			c.Err = fmt.Errorf("%w: it is column %q in the new file", ErrDiffers, name)
		}
	}
	if err != nil || len(v.needles.set) == 0 {
		return out, nil
	}
	v.excuseNames(a.Schema().Fields())
	if err := v.search(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", v.path, err)
	}
	return v.conclude(), nil
}

// changed is the new rows of a batch, whose old values are remembered, to be looked for.
func (v *rowVerifier) changed(ctx context.Context, old arrow.RecordBatch) ([]arrow.Array, error) {
	for i, masked := range v.masked {
		switch {
		case !masked:
		case v.opts.Format.IsText():
			if err := v.needles.addCells(old.Column(i)); err != nil {
				return nil, err
			}
		default:
			eachLeaf(old.Column(i), v.needles.add)
		}
	}
	made, err := v.change.Apply(ctx, old)
	if err != nil {
		return nil, err
	}
	defer made.Release()
	return retained(made.Columns()), nil
}

// excuseNames finds the old values that the names of columns hold, nested ones included: those stay.
func (v *rowVerifier) excuseNames(fields []arrow.Field) {
	for _, f := range fields {
		v.needles.find([]byte(f.Name), needleMin, v.excuse)
		if nested, ok := f.Type.(arrow.NestedType); ok {
			v.excuseNames(nested.Fields())
		}
	}
}

// search looks for old values in the new file.
func (v *rowVerifier) search(ctx context.Context) error {
	if v.opts.Format.IsText() {
		return v.searchCSV(ctx, v.path, v.opts)
	}
	r, err := Open(ctx, v.path, v.opts)
	if err != nil {
		return err
	}
	defer r.Close()
	places := make([]int, len(v.masked))
	for i := range places {
		places[i] = i
	}
	if err := v.showValues(ctx, r, places); err != nil {
		return err
	}
	src, err := openSource(ctx, v.path, true)
	if err != nil {
		return err
	}
	defer src.Close()
	if v.opts.Format != Parquet {
		return v.searchIPC(ctx, src, v.opts)
	}
	file, err := openParquetFile(src)
	if err != nil {
		return err
	}
	return v.searchParquet(ctx, file)
}

// typed is the options that read the new file's columns with the types of the new rows. Cells have types by place only; cells that were carried over
// as they stand are read so.
func (v *rowVerifier) typed() ReadOptions {
	opts := v.opts
	if !opts.Format.IsText() {
		return opts
	}
	fields := make([]arrow.Field, v.change.Schema.NumFields())
	raw := make([]bool, len(fields))
	for i, f := range v.change.Schema.Fields() {
		fields[i] = arrow.Field{Name: f.Name, Type: cellType(f.Type), Nullable: true}
		_, raw[i] = rawDelimiter(f)
	}
	opts.Schema, opts.byPlace = arrow.NewSchema(fields, nil), true
	opts.Raw = func(i int, _ string) bool { return i < len(raw) && raw[i] }
	return opts
}

// cellType is the type that cells of a column are read as.
func cellType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return cellType(t.ValueType)
	case *arrow.RunEndEncodedType:
		return cellType(t.Encoded())
	case arrow.ExtensionType:
		return cellType(t.StorageType())
	}
	switch t.ID() {
	case arrow.NULL, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return arrow.BinaryTypes.String
	case arrow.LARGE_BINARY, arrow.BINARY_VIEW:
		return arrow.BinaryTypes.Binary
	}
	return t
}
