package tablefile

import "fmt"

// Compression names a codec. The zero value leaves the choice to the writer: that of WriteOptions.Like where the format is the same, else snappy
// for Parquet and none for Arrow IPC.
type Compression string

const (
	NoCompression Compression = "none"
	Snappy        Compression = "snappy"
	Gzip          Compression = "gzip"
	Brotli        Compression = "brotli"
	Zstd          Compression = "zstd"
	LZ4           Compression = "lz4" // LZ4_RAW in Parquet, LZ4 frames in Arrow IPC
)

// ParseCompression reads a codec's name: none, snappy, gzip, brotli, zstd or lz4.
func ParseCompression(name string) (Compression, error) {
	switch c := Compression(name); c {
	case NoCompression, Snappy, Gzip, Brotli, Zstd, LZ4:
		return c, nil
	}
	return "", fmt.Errorf("%w: compression %q is none of none, snappy, gzip, brotli, zstd, lz4", ErrUnsupported, name)
}

// Style is what a file looks like beside its values. A Reader fills it in while it reads: the CSV line end is known after the first record, the
// final line end at io.EOF. A Writer given the same Style takes it up as late as it can, so one Style may go from a Reader to a Writer before
// the first batch. It must not be read while Reader.Next runs.
type Style struct {
	Format      Format
	Compression Compression // of a Parquet input's first column chunk; empty when unknown
	CSV         CSVStyle
}

// CSVStyle is the look of a CSV file. The zero value is the writer's own: a comma, LF, no byte order mark, a header, a final line end.
type CSVStyle struct {
	Delimiter      byte // 0: the format's own
	CRLF           bool
	BOM            bool
	NoFinalNewline bool
	NoHeader       bool
	Header         []string // the header's cells as they stand in the file, quotes included
}

// checkDelimiter refuses bytes that would make a file ambiguous.
func checkDelimiter(c byte) error {
	switch {
	case c == '"', c == '\r', c == '\n', c == 0, c >= 0x80,
		'0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return fmt.Errorf("%w: CSV delimiter %q: it must be one ASCII character that is no letter, digit, quote, line end or NUL", ErrUnsupported, string(rune(c)))
	}
	return nil
}

// delimiterOf gives the delimiter in force for a text format.
func delimiterOf(f Format, given, like byte) byte {
	switch {
	case given != 0:
		return given
	case like != 0:
		return like
	case f == TSV:
		return '\t'
	}
	return ','
}
