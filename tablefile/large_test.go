package tablefile

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// copyTable copies a table between files, the way a caller does.
func copyTable(in, out string, ro ReadOptions, wo WriteOptions) error {
	r, err := Open(context.Background(), in, ro)
	if err != nil {
		return err
	}
	defer r.Close()
	wo.Like = r.Style()
	w, err := Create(out, r.Schema(), wo)
	if err != nil {
		return err
	}
	defer w.Abort()
	for {
		b, err := r.Next()
		if err == io.EOF {
			return w.Commit()
		}
		if err != nil {
			return err
		}
		err = w.Write(b)
		b.Release()
		if err != nil {
			return err
		}
	}
}

// writeOneGroup writes a Parquet file of one row group: an id and three text columns of incompressible, repeating and long cells, about 150
// bytes a row.
func writeOneGroup(path string, rows int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	text := func(name string, id int32) schema.Node {
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Required, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, id))
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{
		schema.NewInt64Node("id", parquet.Repetitions.Required, 1), text("token", 2), text("city", 3), text("note", 4)}, -1)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	props := parquet.NewWriterProperties(parquet.WithDictionaryDefault(false), parquet.WithDictionaryFor("city", true), parquet.WithCompression(compress.Codecs.Snappy))
	w := file.NewParquetWriter(out, root, file.WithWriterProps(props))
	group, err := w.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const step = 10_000
	for col := range 4 {
		cw, err := group.NextColumn()
		if err != nil {
			return err
		}
		for done := 0; done < rows; done += step {
			n := min(step, rows-done)
			if ids, ok := cw.(*file.Int64ColumnChunkWriter); ok {
				values := make([]int64, n)
				for i := range values {
					values[i] = int64(done + i)
				}
				if _, err := ids.WriteBatch(values, nil, nil); err != nil {
					return err
				}
				continue
			}
			values := make([]parquet.ByteArray, n)
			for i := range values {
				switch col {
				case 1:
					values[i] = fmt.Appendf(nil, "%016x%016x", rng.Uint64(), rng.Uint64())
				case 2:
					values[i] = fmt.Appendf(nil, "city number %d", rng.IntN(500))
				case 3:
					b := make([]byte, 80)
					for k := range b {
						b[k] = byte('!' + rng.IntN(90))
					}
					values[i] = b
				}
			}
			if _, err := cw.(*file.ByteArrayColumnChunkWriter).WriteBatch(values, nil, nil); err != nil {
				return err
			}
		}
		if err := cw.Close(); err != nil {
			return err
		}
	}
	if err := group.Close(); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return out.Flush()
}

// TestMemoryBounded copies a Parquet file of one row group in a process of its own and reads that process's peak resident size. The file has
// 65 MB; ARROWMASK_LARGE_ROWS sets another number of rows (16,000,000 make 2 GB).
func TestMemoryBounded(t *testing.T) {
	if in := os.Getenv("TABLEFILE_COPY_IN"); in != "" {
		if err := copyTable(in, os.Getenv("TABLEFILE_COPY_OUT"), ReadOptions{}, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("peak %d\n", peakResident(t))
		return
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("peak memory is read from /proc, which is not there")
	}
	if testing.Short() {
		t.Skip("writes 65 MB; not in -short")
	}
	rows, limit := 500_000, int64(600<<20)
	if s := os.Getenv("ARROWMASK_LARGE_ROWS"); s != "" {
		var err error
		if rows, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "in.parquet")
	if err := writeOneGroup(in, rows); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"out.parquet", "out.csv"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMemoryBounded$")
		cmd.Env = append(os.Environ(), "TABLEFILE_COPY_IN="+in, "TABLEFILE_COPY_OUT="+filepath.Join(dir, to))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", to, err, out)
		}
		line, _, _ := strings.Cut(string(out), "\n")
		peak, err := strconv.ParseInt(strings.TrimPrefix(line, "peak "), 10, 64)
		if err != nil {
			t.Fatalf("%s: no peak in %q", to, out)
		}
		info, _ := os.Stat(filepath.Join(dir, to))
		t.Logf("%s: %d rows, %d MB, peak resident %d MB", to, rows, info.Size()>>20, peak>>20)
		if peak > limit {
			t.Errorf("%s: peak resident %d MB, limit %d MB", to, peak>>20, limit>>20)
		}
		os.Remove(filepath.Join(dir, to))
	}
}

// peakResident reads this process's peak resident size in bytes.
func peakResident(t *testing.T) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatal("no VmHWM")
	return 0
}
