package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/arrowmask/arrowmask/internal/samplegen"
)

// big runs the memory tests at their full size, which takes minutes and 5 GB
// of disk.
var big = os.Getenv("ARROWMASK_BIG") != ""

// The memory that masking takes does not grow with the file: 2 GB are masked in
// less than 1 GiB, with as many threads as are used by default on any machine.
// Without ARROWMASK_BIG smaller batches of a smaller file have to fit into less
// than reading it whole would take.
func TestMemoryParquet(t *testing.T) {
	t.Parallel()
	size, limit, batches := int64(100_000_000), int64(330<<20), []string{"--threads", "2", "--batch-rows", "4096"}
	if big {
		size, limit, batches = 2_000_000_000, 1<<30, []string{"--threads", "8"}
	} else if testing.Short() {
		t.Skip("writes 140 MB; not in short mode")
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "out.parquet")
	const bytesPerRow = 142 // of the sample written plainly
	rows := int(size / bytesPerRow)
	f, err := os.Create(in)
	if err != nil {
		t.Fatal(err)
	}
	// The Parquet writer closes the file.
	if err := samplegen.WriteParquet(f, samplegen.Options{Rows: rows, RowGroup: 1 << 18, Plain: true}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(in)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() < size {
		t.Fatalf("the input has %d bytes, want %d or more", info.Size(), size)
	}
	peak := peakMemory(t, append([]string{"mask", in, "-o", out, "-q", "--compression", "snappy",
		"--set", "name=mask({col})", "--set", "email=mask_hash({col})", "--set", "card=mask_show_last_n({col}, 4)", "--set", "id=mask({col})"}, batches...)...)
	t.Logf("%d rows, %d MB, peak memory %d MiB", rows, info.Size()/1_000_000, peak>>20)
	if peak > limit {
		t.Errorf("peak memory %d MiB, limit %d MiB", peak>>20, limit>>20)
	}
	checkRows(t, out, int64(rows))
}

// B31: a row group whose hex digests need 2^31 bytes is masked in batches: no
// offset is wrapped. Without ARROWMASK_BIG the row group has a million rows.
func TestMemoryB31HugeRowGroup(t *testing.T) {
	rows := 1 << 25 // 64 hex digits each: 2^31 bytes
	if !big {
		rows = 1 << 20
	}
	if testing.Short() {
		t.Skip("a million rows and more; not in short mode")
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "out.parquet")
	writeEmptyStrings(t, in, rows)
	for _, mode := range []string{rewriteAuto, rewriteAll} {
		peak := peakMemory(t, "mask", in, "-o", out, "-q", "--overwrite", "--rewrite", mode, "--set", "s=sha256({col})")
		t.Logf("--rewrite %s: %d rows in one row group, peak memory %d MiB", mode, rows, peak>>20)
		if peak > 1<<30 {
			t.Errorf("--rewrite %s: peak memory %d MiB", mode, peak>>20)
		}
		checkRows(t, out, int64(rows))
	}
}

// writeEmptyStrings writes one row group without a dictionary: the mask would
// need no more than that.
func writeEmptyStrings(t *testing.T, path string, rows int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	w, err := pqarrow.NewFileWriter(schema, f, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(int64(rows)), parquet.WithDictionaryDefault(false)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	const chunk = 1 << 16
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendEmptyValues(chunk)
	col := b.NewArray()
	batch := array.NewRecordBatch(schema, []arrow.Array{col}, chunk)
	for range rows / chunk {
		if err := w.WriteBuffered(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.NumRowGroups() != 1 || r.NumRows() != int64(rows) {
		t.Fatalf("%d rows in %d row groups", r.NumRows(), r.NumRowGroups())
	}
}

func checkRows(t *testing.T, path string, rows int64) {
	t.Helper()
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.NumRows() != rows {
		t.Errorf("%d rows came out, %d went in", r.NumRows(), rows)
	}
}

// peakMemory runs the program and gives the most memory that it had in use. It
// reads the kernel's own high-water mark again and again: the figure of a
// finished process would take in the memory of this test, which it was forked
// from.
func peakMemory(t *testing.T, args ...string) (peak int64) {
	t.Helper()
	cmd := exec.Command(program, args...)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	samples := 0
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("%v: %s", err, errOut.String())
			}
			if samples < 10 {
				t.Fatalf("the run was too short: %d samples", samples)
			}
			return peak
		case <-time.After(5 * time.Millisecond):
			if now := highWater(cmd.Process.Pid); now > 0 {
				samples++
				peak = max(peak, now)
			}
		}
	}
}

// highWater is a process's largest resident size so far in bytes; 0 when the
// process is gone.
func highWater(pid int) int64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			var kib int64
			if _, err := fmt.Sscanf(rest, "%d kB", &kib); err == nil {
				return kib << 10
			}
		}
	}
	return 0
}
