package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/pflag"

	"github.com/arrowmask/arrowmask/tablefile"
)

// inputFlags say how to read IN.
type inputFlags struct {
	from      string
	delimiter string
	noHeader  bool
	types     []string
	batchRows int
}

func (o *inputFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.from, "from", "", "`format` of IN: parquet, arrow, arrow-stream, csv, tsv (default: by the name's extension)")
	f.StringVar(&o.delimiter, "delimiter", "", "`character` between CSV cells, in IN and OUT (default: ',' for csv, tab for tsv)")
	f.BoolVar(&o.noHeader, "no-header", false, "the first CSV record is data; columns are called f0, f1, ...")
	f.StringArrayVar(&o.types, "csv-type", nil, "read a CSV column as a type, not as text: `COLUMN=TYPE` with bool, int8 to int64, uint8 to uint64, float32, float64, decimal(P,S), date32, timestamp, binary")
	f.IntVar(&o.batchRows, "batch-rows", tablefile.DefaultBatchRows, "most rows in memory as one batch")
}

// format is the input's format: the one asked for, else by the name.
func (o *inputFlags) format(in string) (tablefile.Format, error) {
	return formatOf("--from", o.from, in)
}

func formatOf(flag, name, path string) (tablefile.Format, error) {
	if name == "" {
		f, err := tablefile.FormatOf(path)
		if err != nil {
			return f, usagef("%w; say it with %s", err, flag)
		}
		return f, nil
	}
	f, err := tablefile.ParseFormat(name)
	if err != nil {
		return f, usagef("%s: %w", flag, err)
	}
	return f, nil
}

// options checks the flags. to is the output's format; the delimiter may be
// meant for it.
func (o *inputFlags) options(format, to tablefile.Format, threads int) (tablefile.ReadOptions, error) {
	opts := tablefile.ReadOptions{Format: format, BatchRows: o.batchRows, Threads: threads, NoHeader: o.noHeader}
	if o.batchRows < 1 {
		return opts, usagef("--batch-rows %d: want 1 or more", o.batchRows)
	}
	if !format.IsText() && (o.noHeader || len(o.types) > 0) {
		return opts, usagef("--no-header and --csv-type are for CSV; the input is %s", format)
	}
	if !format.IsText() && !to.IsText() && o.delimiter != "" {
		return opts, usagef("--delimiter is for CSV")
	}
	if o.delimiter != "" {
		if len(o.delimiter) != 1 {
			return opts, usagef("--delimiter %q: want one ASCII character", o.delimiter)
		}
		opts.Delimiter = o.delimiter[0]
	}
	fields := make([]arrow.Field, 0, len(o.types))
	for _, t := range o.types {
		name, typeName, err := splitNamed("--csv-type", t)
		if err != nil {
			return opts, err
		}
		dt, err := parseType(typeName)
		if err != nil {
			return opts, usagef("--csv-type for column %q: %w", name, err)
		}
		fields = append(fields, arrow.Field{Name: name, Type: dt, Nullable: true})
	}
	if len(fields) > 0 {
		if o.noHeader {
			return opts, usagef("--csv-type needs the column names of a header; it does not go with --no-header")
		}
		opts.Schema = arrow.NewSchema(fields, nil)
	}
	return opts, nil
}

var csvTypes = map[string]arrow.DataType{
	"string": arrow.BinaryTypes.String, "binary": arrow.BinaryTypes.Binary, "bool": arrow.FixedWidthTypes.Boolean,
	"int8": arrow.PrimitiveTypes.Int8, "int16": arrow.PrimitiveTypes.Int16, "int32": arrow.PrimitiveTypes.Int32, "int64": arrow.PrimitiveTypes.Int64,
	"uint8": arrow.PrimitiveTypes.Uint8, "uint16": arrow.PrimitiveTypes.Uint16, "uint32": arrow.PrimitiveTypes.Uint32, "uint64": arrow.PrimitiveTypes.Uint64,
	"float32": arrow.PrimitiveTypes.Float32, "float64": arrow.PrimitiveTypes.Float64,
	"date32": arrow.FixedWidthTypes.Date32, "timestamp": &arrow.TimestampType{Unit: arrow.Microsecond},
}

func parseType(name string) (arrow.DataType, error) {
	if dt, ok := csvTypes[name]; ok {
		return dt, nil
	}
	if inner, ok := strings.CutPrefix(name, "decimal("); ok {
		p, s, _ := strings.Cut(strings.TrimSuffix(inner, ")"), ",")
		precision, err1 := strconv.ParseInt(strings.TrimSpace(p), 10, 32)
		scale, err2 := strconv.ParseInt(strings.TrimSpace(s), 10, 32)
		if err1 == nil && err2 == nil && strings.HasSuffix(name, ")") && precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision {
			return &arrow.Decimal128Type{Precision: int32(precision), Scale: int32(scale)}, nil
		}
	}
	return nil, fmt.Errorf("unknown type %q", name)
}
