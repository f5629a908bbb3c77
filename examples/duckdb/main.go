//go:build duckdb_arrow

// Command duckdb shows arrowmask in an embedded DuckDB: mask functions in SQL, and
// a query result that is masked as Arrow batches on its way out.
//
//	go run -tags duckdb_arrow . ../../testdata/samples/customers.parquet
//
// It needs a C compiler: DuckDB is C++.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	v18 "github.com/arrowmask/arrowmask/arrowudf/v18"
)

// functions are what register adds: names in SQL and expressions.
var functions = map[string]string{
	"am_sha256":    "sha2({col}, 256)",
	"am_mask":      "mask({col})",
	"am_mask_card": "mask_show_last_n({col}, 4)",
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: duckdb FILE.parquet")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, file string) error {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for name, expr := range functions {
		if err := register(conn, name, expr); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}

	from := "FROM '" + strings.ReplaceAll(file, "'", "''") + "' ORDER BY id"
	var equal, total int
	err = conn.QueryRowContext(ctx, "SELECT count(*) FILTER (am_sha256(email) IS NOT DISTINCT FROM sha256(email)), count(*) FROM (SELECT * "+from+")").Scan(&equal, &total)
	if err != nil {
		return err
	}
	fmt.Printf("am_sha256 equals sha256 in %d of %d rows\n", equal, total)

	masks := []v18.ColumnMask{{Column: "name", Expr: functions["am_mask"]}, {Column: "card", Expr: functions["am_mask_card"]}}
	rows := 0
	err = maskQuery(ctx, conn, "SELECT id, name, card "+from, masks, func(b arrow.RecordBatch) error {
		if rows == 0 {
			fmt.Println(b.NewSlice(0, min(3, b.NumRows())))
		}
		rows += int(b.NumRows())
		return nil
	})
	fmt.Printf("masked %d rows of a query\n", rows)
	return err
}
