package tablefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// people is a table of which column "secret", of 40 texts and NULL, gets hashed.
func people(t testing.TB) arrow.RecordBatch {
	var id, secret, keep []string
	for i := range 200 {
		id = append(id, fmt.Sprint(100_000+i))
		secret = append(secret, fmt.Sprintf(`"SECRET-%06d"`, i%40))
		keep = append(keep, fmt.Sprintf(`"plain-%06d, \"x\""`, i%70))
		if i%9 == 8 {
			secret[i] = "null"
		}
	}
	list := func(s []string) string { return "[" + strings.Join(s, ",") + "]" }
	return table(t, column{"id", arrow.PrimitiveTypes.Int64, list(id)}, column{"secret", arrow.BinaryTypes.String, list(secret)},
		column{"keep", arrow.BinaryTypes.String, list(keep)})
}

// hashRows hashes columns of text.
func hashRows(columns ...int) func(*arrow.Schema) (*Change, error) {
	return func(sc *arrow.Schema) (*Change, error) {
		return &Change{Schema: sc, Masked: columns, Apply: func(ctx context.Context, old arrow.RecordBatch) (arrow.RecordBatch, error) {
			cols := append([]arrow.Array{}, old.Columns()...)
			for _, i := range columns {
				made, err := hashed(i, sc.Field(i)).Apply(ctx, []arrow.Array{cols[i]})
				if err != nil {
					return nil, err
				}
				cols[i] = made
			}
			return array.NewRecordBatch(sc, cols, old.NumRows()), nil
		}}, nil
	}
}

func hashOf(t testing.TB, batch arrow.RecordBatch, columns ...int) arrow.RecordBatch {
	t.Helper()
	c, err := hashRows(columns...)(batch.Schema())
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Apply(context.Background(), batch)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// whole is everything that a verdict has against a file.
func whole(v *Verdict, err error) error {
	if err != nil {
		return err
	}
	errs := []error{v.Err}
	for _, c := range v.Columns {
		errs = append(errs, c.Err)
	}
	return errors.Join(errs...)
}

// Every pair of formats verifies, with other numbers of rows a batch on both sides.
func TestVerifyRowsFormats(t *testing.T) {
	batch := people(t)
	masked := hashOf(t, batch, 1)
	parts := []arrow.RecordBatch{masked.NewSlice(0, 33), masked.NewSlice(33, 34), masked.NewSlice(34, 200)}
	for _, from := range allFormats {
		before := write(t, from, WriteOptions{}, batch)
		for _, to := range allFormats {
			after := write(t, to, WriteOptions{}, parts...)
			ra := ReadOptions{BatchRows: 7}
			if from == "t.csv" {
				ra.Schema = arrow.NewSchema([]arrow.Field{batch.Schema().Field(0)}, nil)
			}
			v, err := VerifyRows(context.Background(), before, after, hashRows(1), ra, ReadOptions{BatchRows: 50})
			if err := whole(v, err); err != nil || v.Rows != 200 || v.Searched != 40 || v.Shown != 0 || !v.Columns[1].Replaced || v.Columns[0].Replaced {
				t.Errorf("%s to %s: %v %+v", from, to, err, v)
			}
			wrong := write(t, to, WriteOptions{}, batch.NewSlice(0, 100), masked.NewSlice(100, 200))
			v, err = VerifyRows(context.Background(), before, wrong, hashRows(1), ra, ReadOptions{})
			if err != nil || !errors.Is(v.Columns[1].Err, ErrDiffers) || !strings.Contains(v.Columns[1].Err.Error(), "in row 1") || v.Columns[0].Err != nil || v.Columns[2].Err != nil || v.Survived != 40 {
				t.Errorf("%s to %s, not masked: %v %+v", from, to, err, v)
			}
			v, err = VerifyRows(context.Background(), before, after, hashRows(1, 2), ra, ReadOptions{})
			if err != nil || v.Columns[1].Err != nil || !errors.Is(v.Columns[2].Err, ErrDiffers) || !errors.Is(v.Err, ErrSurvives) {
				t.Errorf("%s to %s, a column less: %v %+v", from, to, err, v)
			}
			short := write(t, to, WriteOptions{}, masked.NewSlice(0, 199))
			if v, err = VerifyRows(context.Background(), before, short, hashRows(1), ra, ReadOptions{}); err != nil || !errors.Is(v.Err, ErrDiffers) || !strings.Contains(v.Err.Error(), "after row 199") {
				t.Errorf("%s to %s, a row less: %v %+v", from, to, err, v)
			}
		}
	}
}

// A CSV file verifies cell by cell: raw cells as they stand, masked ones of any type as they are spelled.
func TestVerifyRowsCSV(t *testing.T) {
	raw := func(_ int, name string) bool { return name != "secret" }
	const before = "secret,keep\nSECRET-1,\"007\"\n\"say \"\"SECRET-2\"\"\",\n,x\n"
	var good strings.Builder
	fmt.Fprintf(&good, "secret,keep\n%s,\"007\"\n%s,\n,x\n", hashText("SECRET-1"), hashText(`say "SECRET-2"`))
	for name, c := range map[string]struct{ after, says string }{
		"good":               {good.String(), ""},
		"quotes gone":        {strings.ReplaceAll(good.String(), `"007"`, "007"), "the files differ: in row 1"},
		"NULL became empty":  {strings.ReplaceAll(good.String(), "\n,x", "\n\"\",x"), "the files differ: in row 3"},
		"a column more":      {strings.ReplaceAll(good.String(), "\n", ",\n"), "the schema has 2 fields and the file 3 columns"},
		"another name":       {strings.ReplaceAll(good.String(), "keep", "kept"), `it is column "kept"`},
		"a value in a name":  {strings.ReplaceAll(good.String(), "keep", "SECRET-1"), `it is column`},
		"an old value stays": {strings.ReplaceAll(good.String(), hashText(`say "SECRET-2"`), `"say ""SECRET-2"""`), "an old value is in the new file: 1"},
	} {
		v, err := VerifyRows(context.Background(), writeText(t, "a.csv", before), writeText(t, "b.csv", c.after), hashRows(0), ReadOptions{Raw: raw}, ReadOptions{})
		err = whole(v, err)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if err == nil && (!v.Columns[1].Bytes || v.Columns[0].Bytes) {
			t.Errorf("%s: %+v", name, v.Columns)
		}
	}

	// A number that stays in a column of numbers is found by its digits.
	batch := people(t)
	in := write(t, "t.arrow", WriteOptions{}, batch)
	change := func(sc *arrow.Schema) (*Change, error) {
		return &Change{Schema: sc, Masked: []int{0}, Apply: func(_ context.Context, old arrow.RecordBatch) (arrow.RecordBatch, error) {
			cols := append([]arrow.Array{}, old.Columns()...)
			cols[0] = array.MakeArrayOfNull(memory.DefaultAllocator, cols[0].DataType(), cols[0].Len())
			return array.NewRecordBatch(sc, cols, old.NumRows()), nil
		}}, nil
	}
	v, err := VerifyRows(context.Background(), in, write(t, "t.csv", WriteOptions{}, batch), change, ReadOptions{}, ReadOptions{})
	if err != nil || v.Searched != 200 || v.Survived != 200 || v.Shown != 0 {
		t.Errorf("%v %+v", err, v)
	}
}

// ipcWith writes an Arrow file or stream by the library alone.
func ipcWith(t *testing.T, name string, batch arrow.RecordBatch, opts ...ipc.Option) string {
	t.Helper()
	var buf bytes.Buffer
	opts = append(opts, ipc.WithSchema(batch.Schema()))
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	} = ipc.NewWriter(&buf, opts...)
	if strings.HasSuffix(name, ".arrow") {
		f, err := ipc.NewFileWriter(&buf, opts...)
		if err != nil {
			t.Fatal(err)
		}
		w = f
	}
	if err := errors.Join(w.Write(batch), w.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Old values are found wherever an Arrow file can hide them, compressed or not; equal values of other columns are no fault.
func TestVerifyRowsHiddenInIPC(t *testing.T) {
	batch := people(t)
	before := write(t, "t.arrow", WriteOptions{}, batch)
	masked := hashOf(t, batch, 1)
	with := func(column int, a arrow.Array, meta arrow.Metadata) arrow.RecordBatch {
		cols, fields := append([]arrow.Array{}, masked.Columns()...), append([]arrow.Field{}, masked.Schema().Fields()...)
		cols[column] = a
		fields[column].Type, fields[column].Metadata = a.DataType(), meta
		return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, masked.NumRows())
	}
	none := arrow.Metadata{}
	quoting := arrow.NewMetadata([]string{"max"}, []string{"SECRET-000003"})
	for name, c := range map[string]struct {
		batch arrow.RecordBatch
		found int
	}{
		"as it is":               {masked, 0},
		"in metadata":            {with(0, masked.Column(0), quoting), 1},
		"under a NULL":           {with(1, underNull(t, masked.Column(1), "SECRET-000003"), none), 1},
		"in a dictionary":        {with(1, dictionaryWith(t, masked.Column(1), "SECRET-000003"), none), 1},
		"a dictionary":           {with(1, dictionaryWith(t, masked.Column(1), "another value"), none), 0},
		"beside, under a NULL":   {with(2, batch.Column(2), none), 0},
		"in views of a NULL":     {with(1, viewsWith(t, masked.Column(1), "SECRET-000003"), none), 1},
		"views":                  {with(1, viewsWith(t, masked.Column(1), "another value"), none), 0},
		"dictionary and in meta": {with(1, dictionaryWith(t, masked.Column(1), "SECRET-000003"), arrow.NewMetadata([]string{"x"}, []string{"SECRET-000004"})), 2},
	} {
		for _, file := range []string{"t.arrow", "t.arrows"} {
			for codec, opts := range map[string][]ipc.Option{"plain": nil, "zstd": {ipc.WithZstd()}, "lz4": {ipc.WithLZ4()}} {
				after := ipcWith(t, file, c.batch, opts...)
				v, err := VerifyRows(context.Background(), before, after, hashRows(1), ReadOptions{}, ReadOptions{BatchRows: 9})
				if err != nil || v.Survived != c.found || c.found == 0 && !v.OK() || c.found > 0 && !errors.Is(v.Err, ErrSurvives) {
					t.Errorf("%s, %s, %s: %v, found %d of %d: %v", name, file, codec, err, v.Survived, c.found, whole(v, nil))
				}
			}
		}
	}

	// The other columns may hold what a masked one held.
	both := with(2, batch.Column(1), none)
	in := ipcWith(t, "t.arrow", array.NewRecordBatch(both.Schema(), []arrow.Array{both.Column(0), batch.Column(1), batch.Column(1)}, 200))
	for _, opts := range [][]ipc.Option{nil, {ipc.WithZstd()}} {
		v, err := VerifyRows(context.Background(), in, ipcWith(t, "t.arrows", both, opts...), hashRows(1), ReadOptions{}, ReadOptions{})
		if err := whole(v, err); err != nil || v.Searched != 40 {
			t.Errorf("equal values beside: %v", err)
		}
	}
}

// underNull puts a text into the bytes under the first NULL of a column of text.
func underNull(t *testing.T, a arrow.Array, text string) arrow.Array {
	t.Helper()
	b := array.NewStringBuilder(memory.DefaultAllocator)
	null := -1
	for i := range a.Len() {
		if a.IsNull(i) && null < 0 {
			null = i
			b.Append(text)
		} else if a.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(a.ValueStr(i))
		}
	}
	if null < 0 {
		t.Fatal("no NULL")
	}
	full := b.NewArray()
	valid := bytes.Clone(a.Data().Buffers()[0].Bytes())
	data := array.NewData(full.DataType(), full.Len(), []*memory.Buffer{memory.NewBufferBytes(valid), full.Data().Buffers()[1], full.Data().Buffers()[2]}, nil, a.NullN(), 0)
	return array.MakeFromData(data)
}

// dictionaryWith is a column of text with a dictionary that holds one more value, which no row has.
func dictionaryWith(t *testing.T, a arrow.Array, text string) arrow.Array {
	t.Helper()
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}
	values := array.NewStringBuilder(memory.DefaultAllocator)
	indices := array.NewInt16Builder(memory.DefaultAllocator)
	for i := range a.Len() {
		if a.IsNull(i) {
			indices.AppendNull()
			continue
		}
		indices.Append(int16(values.Len()))
		values.Append(a.ValueStr(i))
	}
	values.Append(text)
	return array.NewDictionaryArray(typ, indices.NewArray(), values.NewArray())
}

// viewsWith is a column of text as views, with a text in the values that no view points to.
func viewsWith(t *testing.T, a arrow.Array, text string) arrow.Array {
	t.Helper()
	b := array.NewStringViewBuilder(memory.DefaultAllocator)
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(a.ValueStr(i))
		}
	}
	full := b.NewArray()
	buffers := append([]*memory.Buffer{}, full.Data().Buffers()...)
	buffers = append(buffers, memory.NewBufferBytes([]byte(strings.Repeat("-", 10)+text+strings.Repeat("-", 10))))
	return array.MakeFromData(array.NewData(full.DataType(), full.Len(), buffers, nil, full.NullN(), 0))
}

// The buffers of every kind of column are counted as the library writes them: a masked column after them is still found.
func TestVerifyRowsLayouts(t *testing.T) {
	all := scalars(t)
	fields, cols := append([]arrow.Field{}, all.Schema().Fields()...), append([]arrow.Array{}, all.Columns()...)
	rows := int(all.NumRows())
	for i, typ := range []arrow.DataType{
		arrow.Null, arrow.ListOf(arrow.BinaryTypes.StringView), arrow.LargeListOf(arrow.PrimitiveTypes.Int8), arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8),
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.String, Nullable: true}, arrow.Field{Name: "b", Type: arrow.Null, Nullable: true}),
		arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64), arrow.ListViewOf(arrow.PrimitiveTypes.Int32),
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String),
		arrow.SparseUnionOf([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, []arrow.UnionTypeCode{3}),
		arrow.DenseUnionOf([]arrow.Field{{Name: "s", Type: arrow.PrimitiveTypes.Int8, Nullable: true}}, []arrow.UnionTypeCode{3}),
	} {
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		b.AppendNulls(rows)
		fields, cols = append(fields, arrow.Field{Name: fmt.Sprint("more", i), Type: typ, Nullable: true}), append(cols, b.NewArray())
	}
	secret := make([]string, rows)
	for i := range secret {
		secret[i] = fmt.Sprintf(`"SECRET-%06d"`, i)
	}
	last := table(t, column{"secret", arrow.BinaryTypes.String, "[" + strings.Join(secret, ",") + "]"})
	at := len(fields)
	fields, cols = append(fields, last.Schema().Field(0)), append(cols, last.Column(0))
	batch := array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(rows))
	for _, name := range []string{"t.arrow", "t.arrows"} {
		before, after := ipcWith(t, name, batch), ipcWith(t, name, hashOf(t, batch, at))
		v, err := VerifyRows(context.Background(), before, after, hashRows(at), ReadOptions{}, ReadOptions{})
		if err := whole(v, err); err != nil || v.Searched != rows {
			t.Errorf("%s: %v", name, err)
		}
		src, err := openSource(context.Background(), after, true)
		if err != nil {
			t.Fatal(err)
		}
		x := &ipcBuffers{verifier: &verifier{masked: make([]bool, len(fields))}, src: src, types: fields}
		format, _ := FormatOf(name)
		if err := x.walk(context.Background(), format); err != nil || len(x.skip) < len(fields) {
			t.Errorf("%s: %v; %d buffers were told apart", name, err, len(x.skip))
		}
		src.Close()
	}
}
