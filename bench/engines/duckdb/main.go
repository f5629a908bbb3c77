//go:build cgo

// Command duckdb is DuckDB as a rival: digests of a table in memory, by the
// protocol of package rival. A query is the maximum of the digests, so that
// nothing but the work is in the time; the maximum of the rows themselves is the
// scan. It needs a C compiler: DuckDB is C++.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/arrowmask/arrowmask/bench/rival"
)

// functions of a row, in SQL. DuckDB has no SHA-512.
var functions = map[string]string{"md5": "md5(x)", "sha1": "sha1(x)", "sha256": "sha256(x)", "scan": "x"}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return err
	}
	e := &engine{connector: connector, db: sql.OpenDB(connector), rows: map[string]int{}}
	defer e.db.Close()
	var version string
	if err := e.db.QueryRow("SELECT version()").Scan(&version); err != nil {
		return err
	}
	return rival.Serve(os.Stdin, os.Stdout, "duckdb", []string{"md5", "sha1", "sha256", "scan"}, version, e)
}

type engine struct {
	connector *duckdb.Connector
	db        *sql.DB
	rows      map[string]int // of the columns
	latest    string         // what the latest run computed, as a query
}

func table(column string) string { return "t" + strings.ReplaceAll(column, "-", "_") }

// Load appends the rows to a table.
func (e *engine) Load(c *rival.Column) (err error) {
	if _, err := e.db.Exec("CREATE TABLE " + table(c.Name) + " (x VARCHAR)"); err != nil {
		return err
	}
	conn, err := e.connector.Connect(context.Background())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	a, err := duckdb.NewAppenderFromConn(conn, "", table(c.Name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	for i := range c.Rows() {
		if err := a.AppendRow(driver.Value(string(c.Row(i)))); err != nil {
			return err
		}
	}
	e.rows[c.Name] = c.Rows()
	return nil
}

func (e *engine) Run(function, column string, threads, rows int) (time.Duration, error) {
	f, ok := functions[function]
	if !ok || rows != e.rows[column] {
		return 0, fmt.Errorf("%s of %d rows of column %s: not here", function, rows, column)
	}
	if _, err := e.db.Exec(fmt.Sprintf("SET threads = %d", threads)); err != nil {
		return 0, err
	}
	var answer string
	start := time.Now()
	err := e.db.QueryRow("SELECT max(" + f + ") FROM " + table(column)).Scan(&answer)
	took := time.Since(start)
	e.latest = "SELECT " + f + " FROM " + table(column)
	return took, err
}

// Digests reads them in the order of the rows.
func (e *engine) Digests(w io.Writer) error {
	rows, err := e.db.Query(e.latest)
	if err != nil {
		return err
	}
	defer rows.Close()
	var digest sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&digest); err != nil {
			return err
		}
		if _, err := w.Write(digest); err != nil {
			return err
		}
	}
	return rows.Err()
}
