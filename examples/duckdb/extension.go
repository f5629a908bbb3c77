package main

import (
	"context"
	"database/sql"
	"strings"
)

// openWithExtension opens a DuckDB in memory with the functions of the extension
// that `make capi` builds, am_sha2(x, 256) and the others. They run inside DuckDB,
// which this program only has to allow; the file must come from you, as it is not
// signed.
func openWithExtension(ctx context.Context, file string) (*sql.DB, error) {
	db, err := sql.Open("duckdb", "?allow_unsigned_extensions=true")
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, "LOAD '"+strings.ReplaceAll(file, "'", "''")+"'"); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}
