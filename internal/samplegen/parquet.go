package samplegen

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// Options shape the Parquet file. The zero value is the sample file.
type Options struct {
	Rows     int  // 0: Rows
	RowGroup int  // rows a row group; 0: 32768
	Plain    bool // no compression and no dictionaries: a file as large as its data
}

// WriteParquet writes the table.
func WriteParquet(w io.Writer, o Options) error {
	if o.Rows == 0 {
		o.Rows = Rows
	}
	if o.RowGroup == 0 {
		o.RowGroup = 1 << 15
	}
	codec, level := compress.Codecs.Zstd, 9
	if o.Plain {
		codec, level = compress.Codecs.Uncompressed, 0
	}
	pw, err := pqarrow.NewFileWriter(schema, w, parquet.NewWriterProperties(
		parquet.WithCompression(codec), parquet.WithCompressionLevel(level),
		// id and card never repeat: a dictionary would hold every value.
		parquet.WithDictionaryDefault(!o.Plain), parquet.WithDictionaryFor("id", false), parquet.WithDictionaryFor("card", false),
	), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return err
	}
	for first := 0; first < o.Rows; first += o.RowGroup {
		batch := Batch(memory.DefaultAllocator, first, min(o.RowGroup, o.Rows-first))
		err := pw.Write(batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
	return pw.Close()
}
