package tablefile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// hashed replaces a column of text by the SHA-256 of each value in hex, row by row, with the standard library.
func hashed(column int, field arrow.Field) Replacement {
	field.Type = arrow.BinaryTypes.String
	return Replacement{Column: column, Field: field, PerValue: true, Apply: alone(func(_ context.Context, old arrow.Array) (arrow.Array, error) {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		for i := range old.Len() {
			if old.IsNull(i) {
				b.AppendNull()
			} else {
				b.Append(hashText(cellText(old, i)))
			}
		}
		return b.NewArray(), nil
	})}
}

// alone makes an Apply of a function of the replaced column.
func alone(f func(context.Context, arrow.Array) (arrow.Array, error)) func(context.Context, []arrow.Array) (arrow.Array, error) {
	return func(ctx context.Context, old []arrow.Array) (arrow.Array, error) { return f(ctx, old[0]) }
}

func hashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// cellText is the text or binary of a cell.
func cellText(a arrow.Array, i int) string {
	switch a := a.(type) {
	case *array.Dictionary:
		return cellText(a.Dictionary(), a.GetValueIndex(i))
	case interface{ Value(int) []byte }:
		return string(a.Value(i))
	}
	return a.ValueStr(i)
}

// rewrite rewrites a file beside it and gives the new file's path.
func rewrite(t testing.TB, path string, opts ReadOptions, reps ...func(*Rewriter) Replacement) (string, *Rewritten, error) {
	t.Helper()
	ctx := context.Background()
	r, err := OpenRewriter(ctx, path, opts)
	if err != nil {
		return "", nil, err
	}
	defer r.Close()
	var all []Replacement
	for _, rep := range reps {
		all = append(all, rep(r))
	}
	out := filepath.Join(t.TempDir(), "out.parquet")
	w, err := r.Rewrite(ctx, out, all, RewriteOptions{Inputs: []string{path}})
	if err != nil {
		return "", nil, err
	}
	return out, w, w.Commit()
}

func mustRewrite(t testing.TB, path string, reps ...func(*Rewriter) Replacement) (string, *Rewritten) {
	t.Helper()
	out, w, err := rewrite(t, path, ReadOptions{}, reps...)
	if err != nil {
		t.Fatal(err)
	}
	return out, w
}

// hashColumn hashes the column of that name.
func hashColumn(name string) func(*Rewriter) Replacement {
	return func(r *Rewriter) Replacement {
		i := r.Schema().FieldIndices(name)[0]
		return hashed(i, r.Schema().Field(i))
	}
}

// firstText is the first column of text; -1 for none.
func firstText(sc *arrow.Schema) int {
	for i, f := range sc.Fields() {
		if f.Type.ID() == arrow.STRING || f.Type.ID() == arrow.LARGE_STRING {
			return i
		}
	}
	return -1
}

// footOf reads a file's footer.
func footOf(t testing.TB, path string) *parquetFile {
	t.Helper()
	src, err := openSource(context.Background(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	p, err := openParquetFile(src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// chunkBytes is all pages of a column chunk.
func chunkBytes(t testing.TB, p *parquetFile, g, leaf int) []byte {
	t.Helper()
	group, err := p.group(g)
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.chunk(group, leaf)
	if err != nil {
		t.Fatal(err)
	}
	end, err := walkPages(p.src, c, p.end, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, end-c.from)
	if _, err := p.src.ReadAt(b, c.from); err != nil {
		t.Fatal(err)
	}
	return b
}

// sameChunks checks that all column chunks but those of one top-level column are equal, byte for byte.
func sameChunks(t *testing.T, before, after string, but int) (compared int) {
	t.Helper()
	a, b := footOf(t, before), footOf(t, after)
	if len(a.groups) != len(b.groups) || a.leaves != b.leaves || a.rows != b.rows {
		t.Fatalf("%s: %d row groups, %d columns, %d rows became %d, %d, %d", before, len(a.groups), a.leaves, a.rows, len(b.groups), b.leaves, b.rows)
	}
	for g := range a.groups {
		for i, top := range a.tops {
			for leaf := top.leafFrom; leaf < top.leafTo; leaf++ {
				if same := bytes.Equal(chunkBytes(t, a, g, leaf), chunkBytes(t, b, g, leaf)); same == (i == but) && a.rows > 0 {
					t.Errorf("%s: row group %d, column %q: same bytes: %v", before, g, top.name, same)
				}
				compared++
			}
		}
	}
	return compared
}

// notRewritten lists files of the Parquet project's test data that cannot be rewritten, with what the error says.
var notRewritten = map[string]string{
	"hadoop_lz4_compressed_larger.parquet": "compression LZ4", // of the column that is hashed
	"repeated_no_annotation.parquet":       "the footer declares 0 rows and its row groups 6",
}

// Every file of the Parquet project's test data goes through with a column of text hashed, or none: the chunks of all other columns are equal byte
// for byte, and what the decoder reads of the old file it reads of the new one.
func TestRewriteParquetTesting(t *testing.T) {
	root := sharedDir(t, "data", "parquet-testing", "data")
	tally := map[string]int{}
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".parquet" && filepath.Ext(path) != ".encrypted" {
			return err
		}
		name := filepath.Base(path)
		why, refused := notRewritten[name]
		if strings.HasSuffix(name, ".encrypted") {
			why, refused = "encrypted", true
		}
		column := -1
		var reps []func(*Rewriter) Replacement
		r, err := OpenRewriter(context.Background(), path, ReadOptions{})
		if err == nil {
			if column = firstText(r.Schema()); column >= 0 {
				reps = append(reps, func(r *Rewriter) Replacement { return hashed(column, r.Schema().Field(column)) })
			}
			r.Close()
		}
		out, w, err := rewrite(t, path, ReadOptions{}, reps...)
		switch {
		case refused && (err == nil || !strings.Contains(err.Error(), why)):
			t.Errorf("%s: error %v does not say %q", name, err, why)
		case !refused && err != nil:
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			tally["refused"]++
			t.Logf("%s: %v", name, err)
			return nil
		}
		sameChunks(t, path, out, column)
		tally["rewritten"]++
		if column >= 0 {
			tally["with a column hashed"]++
		}
		before, err := tryRead(path, ReadOptions{Format: Parquet})
		if err != nil {
			tally["that the decoder cannot read as a whole"]++
			t.Logf("%s: the decoder cannot read it: %v; %v", name, err, w.Ways)
			return nil
		}
		compareHashed(t, name, before, read(t, out, ReadOptions{}), column)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(tally)
}

func compareHashed(t *testing.T, name string, before, after arrow.Table, column int) {
	t.Helper()
	if before.NumRows() != after.NumRows() || before.NumCols() != after.NumCols() {
		t.Errorf("%s: %d rows, %d columns became %d, %d", name, before.NumRows(), before.NumCols(), after.NumRows(), after.NumCols())
		return
	}
	for i := range int(before.NumCols()) {
		old, new := columnText(before.Column(i)), columnText(after.Column(i))
		if i != column && !arrow.TypeEqual(before.Column(i).DataType(), after.Column(i).DataType()) {
			t.Errorf("%s, column %d: type %s became %s", name, i, before.Column(i).DataType(), after.Column(i).DataType())
		}
		for row := range old {
			want := old[row]
			if i == column && want != array.NullValueStr {
				want = hashText(want)
			}
			if new[row] != want {
				t.Errorf("%s, column %d, row %d: %q, want %q", name, i, row, new[row], want)
				break
			}
		}
	}
}

func isClass(err error, classes ...error) bool {
	for _, c := range classes {
		if errors.Is(err, c) {
			return true
		}
	}
	return false
}
