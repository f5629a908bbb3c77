//go:build duckdb_arrow

package main

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/duckdb/duckdb-go/v2"

	"github.com/arrowmask/arrowmask/arrowudf"
	v18 "github.com/arrowmask/arrowmask/arrowudf/v18"
)

// maskQuery runs a query, masks columns of its result and hands every batch to
// each. The batches are Arrow all the way: nothing is converted row by row.
func maskQuery(ctx context.Context, conn *sql.Conn, query string, masks []v18.ColumnMask, each func(arrow.RecordBatch) error) error {
	return conn.Raw(func(c any) error {
		engine, err := duckdb.NewArrowFromConn(c.(driver.Conn))
		if err != nil {
			return err
		}
		var rows array.RecordReader
		if rows, err = engine.QueryContext(ctx, query); err != nil {
			return err
		}
		defer rows.Release()
		columns, err := v18.NewColumnMasks(rows.Schema(), masks, arrowudf.Options{})
		if err != nil {
			return err
		}
		for rows.Next() {
			masked, err := columns.Mask(ctx, rows.RecordBatch())
			if err != nil {
				return err
			}
			err = each(masked)
			masked.Release()
			if err != nil {
				return err
			}
		}
		return rows.Err()
	})
}
