package tablefile

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/compress"
)

// TestFullEverywhere lets every write fail at some byte, as a full disk does: by a limit on the size of files, which the system keeps for copies inside it
// too. The limit is the process's, so a child runs the test.
func TestFullEverywhere(t *testing.T) {
	const child = "TABLEFILE_FULL"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFullEverywhere$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "limits tried") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	tried := 0
	for name, make := range fullCases(t) {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := make(path); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		whole := info.Size()
		os.Remove(path)
		limits, steps := []int64{0, 3, 4, whole - 1, whole - 8, whole - 9}, int64(25)
		if whole > spillBytes {
			limits, steps = []int64{spillBytes / 2, spillBytes, whole - 1}, 2 // the new chunk is spooled: in memory, on its way, complete
		}
		for at := int64(1); at < whole; at += max(1, whole/steps) {
			limits = append(limits, at)
		}
		for _, limit := range limits {
			limitFiles(t, uint64(limit))
			err := make(path)
			limitFiles(t, ^uint64(0))
			tried++
			if !errors.Is(err, syscall.EFBIG) || !strings.HasPrefix(err.Error(), path+": cannot be written: ") || !strings.HasSuffix(err.Error(), "file too large") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: room for %d of %d bytes: error %v", name, limit, whole, err)
			}
			if names := namesIn(t, dir); len(names) > 0 {
				t.Fatalf("%s: room for %d of %d bytes left %q", name, limit, whole, names)
			}
		}
	}
	t.Logf("%d limits tried", tried)
}

func limitFiles(t *testing.T, size uint64) {
	t.Helper()
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &now); err != nil {
		t.Fatal(err)
	}
	now.Cur = min(size, now.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &now); err != nil {
		t.Fatal(err)
	}
}

// fullCases make files in every way that there is: each format, an Arrow file with a dictionary, which is spooled, and copies of Parquet files with a
// new dictionary, a new chunk, and one that does not stay in memory.
func fullCases(t *testing.T) map[string]func(path string) error {
	batch := scalars(t)
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	dict := array.NewDictionaryArray(typ, table(t, column{"i", arrow.PrimitiveTypes.Int32, `[0, 1, 0]`}).Column(0), table(t, column{"v", arrow.BinaryTypes.String, `["a", "b"]`}).Column(0))
	spooled := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "d", Type: typ, Nullable: true}}, nil), []arrow.Array{dict}, 3)
	cases := map[string]func(string) error{
		"dictionary.arrow": func(path string) error { return tryWrite(path, WriteOptions{}, spooled) },
	}
	for _, name := range allFormats {
		cases[name] = func(path string) error { return tryWrite(path, WriteOptions{}, batch, batch) }
	}
	inputs := map[string]string{
		"new-dictionary.parquet": rich(t, richOptions{rows: 600, groups: 2, codec: compress.Codecs.Snappy}),
		"new-chunk.parquet":      rich(t, richOptions{rows: 600, groups: 2, codec: compress.Codecs.Snappy, plain: true}),
		"large-chunk.parquet":    large(t),
	}
	for name, in := range inputs {
		cases[name] = func(path string) error {
			r, err := OpenRewriter(context.Background(), in, ReadOptions{})
			if err != nil {
				return err
			}
			defer r.Close()
			w, err := r.Rewrite(context.Background(), path, []Replacement{hashColumn("secret")(r)}, RewriteOptions{})
			if err != nil {
				return err
			}
			return w.Commit()
		}
	}
	return cases
}

// large is a file whose one column becomes longer than what is held in memory of it.
func large(t *testing.T) string {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for range 150_000 {
		b.Append(fmt.Sprintf("%016x", rnd.Uint64()))
	}
	sc := arrow.NewSchema([]arrow.Field{{Name: "secret", Type: arrow.BinaryTypes.String}}, nil)
	col := b.NewArray()
	return write(t, "large.parquet", WriteOptions{Compression: NoCompression}, array.NewRecordBatch(sc, []arrow.Array{col}, int64(col.Len())))
}
