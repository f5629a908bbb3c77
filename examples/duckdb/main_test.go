//go:build duckdb_arrow

package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"os"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	v18 "github.com/arrowmask/arrowmask/arrowudf/v18"
)

const sample = "../../testdata/samples/customers.parquet"

func open(t testing.TB, setup ...string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); db.Close() })
	for name, expr := range functions {
		if err := register(conn, name, expr); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range setup {
		if _, err := conn.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

func TestExample(t *testing.T) {
	if err := run(t.Context(), sample); err != nil {
		t.Fatal(err)
	}
}

// TestFunctions compares with DuckDB's own digest and with the standard library,
// on several threads, with NULLs, constants and expressions as arguments.
func TestFunctions(t *testing.T) {
	conn := open(t, "CREATE TABLE t AS SELECT CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'Zoë ' || i ELSE repeat('x', i % 100) END AS x FROM range(100_000) r(i)")
	var differ int
	err := conn.QueryRowContext(t.Context(), "SELECT count(*) FROM t WHERE am_sha256(x) IS DISTINCT FROM sha256(x)").Scan(&differ)
	if err != nil || differ != 0 {
		t.Errorf("%d rows differ from sha256: %v", differ, err)
	}
	sum := sha256.Sum256([]byte("abc"))
	var got, null, card string
	err = conn.QueryRowContext(t.Context(), "SELECT am_sha256('abc'), coalesce(am_sha256(NULL), 'null'), am_mask_card('4111 1111 1111 1234')").Scan(&got, &null, &card)
	if err != nil || got != hex.EncodeToString(sum[:]) || null != "null" || card != "nnnn nnnn nnnn 1234" {
		t.Errorf("%s %s %s: %v", got, null, card, err)
	}
	if err := register(conn, "broken", "sha2({col}"); err == nil {
		t.Error("a broken expression was registered")
	}
}

// TestQuery masks a query's result through Arrow: the same as in SQL.
func TestQuery(t *testing.T) {
	conn := open(t)
	var want, got []string
	rows, err := conn.QueryContext(t.Context(), "SELECT coalesce(am_mask(name), '-') FROM '"+sample+"' ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		want = append(want, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	masks := []v18.ColumnMask{{Column: "name", Expr: "mask({col})"}}
	err = maskQuery(t.Context(), conn, "SELECT id, name FROM '"+sample+"' ORDER BY id", masks, func(b arrow.RecordBatch) error {
		names := b.Column(1).(*array.String)
		for i := range names.Len() {
			if names.IsNull(i) {
				got = append(got, "-")
			} else {
				got = append(got, names.Value(i))
			}
		}
		return nil
	})
	if err != nil || len(want) != 100_000 || len(got) != len(want) {
		t.Fatalf("%d rows, %d in SQL: %v", len(got), len(want), err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("row %d differs", i)
		}
	}
}

// extension is the file that make capi builds; scripts/engines/run.sh names it.
func extension(t testing.TB) *sql.DB {
	t.Helper()
	file := os.Getenv("ARROWMASK_EXTENSION")
	if file == "" {
		t.Skip("NOT RUN: ARROWMASK_EXTENSION names no arrowmask.duckdb_extension")
	}
	db, err := openWithExtension(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestExtension has DuckDB load the library, which brings a Go runtime of its own,
// into this Go program; both collect garbage and signal their threads meanwhile.
func TestExtension(t *testing.T) {
	db := extension(t)
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				runtime.GC()
			}
		}
	}()
	for range 5 {
		var differ, rows int
		err := db.QueryRowContext(t.Context(), "SELECT count(*) FILTER (am_sha2(x, 256) IS DISTINCT FROM sha256(x)), count(*) FROM (SELECT CASE i % 5 WHEN 0 THEN NULL ELSE repeat('x', (i % 100)::INT) || i END AS x FROM range(300_000) r(i))").Scan(&differ, &rows)
		if err != nil || differ != 0 || rows != 300_000 {
			t.Fatalf("%d of %d rows differ from sha256: %v", differ, rows, err)
		}
	}
	var masked string
	if err := db.QueryRowContext(t.Context(), "SELECT am_eval('4111-1234', 'mask_show_last_n({col}, 4)')").Scan(&masked); err != nil || masked != "nnnn-1234" {
		t.Errorf("%q: %v", masked, err)
	}
	if err := db.QueryRowContext(t.Context(), "SELECT am_eval('a', 'sha2({col}')").Scan(&masked); err == nil {
		t.Error("a broken expression was evaluated")
	}
}

const benchmarkTable = "CREATE TABLE t AS SELECT left(sha256(i::VARCHAR), 32) AS x FROM range(1_000_000) r(i)"

// BenchmarkSHA256 has DuckDB's own function, that of the extension, and one of this
// program in turns.
func BenchmarkSHA256(b *testing.B) {
	ctx := context.Background()
	conn := open(b, "SET threads = 1", benchmarkTable)
	loaded, err := extension(b).Conn(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer loaded.Close()
	for _, q := range []string{"SET threads = 1", benchmarkTable} {
		if _, err := loaded.ExecContext(ctx, q); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, function string
		conn           *sql.Conn
	}{{"duckdb", "sha256", conn}, {"extension", "am_sha256", loaded}, {"go", "am_sha256", conn}} {
		b.Run("way="+c.name, func(b *testing.B) {
			for b.Loop() {
				var s string
				if err := c.conn.QueryRowContext(ctx, "SELECT max("+c.function+"(x)) FROM t").Scan(&s); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/row")
		})
	}
}
