package tablefile

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Format is a file format. The zero value means: take it from the file's name.
type Format uint8

const (
	Auto Format = iota
	Parquet
	ArrowFile   // Arrow IPC file, also called Feather version 2
	ArrowStream // Arrow IPC stream
	CSV         // delimiter "," unless told otherwise
	TSV         // CSV with a tab as delimiter
)

var formatNames = [...]string{Auto: "auto", Parquet: "parquet", ArrowFile: "arrow", ArrowStream: "arrow-stream", CSV: "csv", TSV: "tsv"}

// String gives the name that ParseFormat takes.
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("format(%d)", uint8(f))
}

// IsText says whether f is CSV or TSV.
func (f Format) IsText() bool { return f == CSV || f == TSV }

var extensions = map[string]Format{
	".parquet": Parquet, ".pq": Parquet,
	".arrow": ArrowFile, ".feather": ArrowFile, ".ipc": ArrowFile,
	".arrows": ArrowStream, ".stream": ArrowStream, ".ipcs": ArrowStream,
	".csv": CSV, ".tsv": TSV,
}

// FormatOf takes the format from the file name's extension, whatever its case. It fails with ErrFormat for any other name and for "-".
func FormatOf(path string) (Format, error) {
	if path == "-" {
		return Auto, fmt.Errorf("%w: standard input and output have no name to tell it", ErrFormat)
	}
	ext := strings.ToLower(filepath.Ext(path))
	if f, ok := extensions[ext]; ok {
		return f, nil
	}
	return Auto, fmt.Errorf("%w: %q is none of .parquet .pq .arrow .feather .ipc .arrows .stream .ipcs .csv .tsv", ErrFormat, path)
}

// ParseFormat reads a format's name: parquet, arrow, arrow-stream, csv or tsv. It fails with ErrFormat for any other.
func ParseFormat(name string) (Format, error) {
	for f, n := range formatNames {
		if Format(f) != Auto && n == name {
			return Format(f), nil
		}
	}
	return Auto, fmt.Errorf("%w: %q is none of parquet, arrow, arrow-stream, csv, tsv", ErrFormat, name)
}
