package rival

import (
	"bytes"
	"errors"
	"fmt"
)

// ErrOutput: a rival's digests are not ours.
var ErrOutput = errors.New("outputs differ")

// Compare says whether a rival's digests of the first rows are ours, which may
// be of more. The error, which wraps ErrOutput, tells no bytes.
func Compare(side string, got, ours []byte, rows, oursRows int) error {
	width := len(ours) / oursRows
	if len(got) != width*rows {
		return fmt.Errorf("%w: %s: %d bytes for %d rows, not %d", ErrOutput, side, len(got), rows, width*rows)
	}
	if bytes.Equal(got, ours[:len(got)]) {
		return nil
	}
	for i := range got {
		if got[i] != ours[i] {
			return fmt.Errorf("%w: %s: row %d", ErrOutput, side, i/width)
		}
	}
	return nil
}
