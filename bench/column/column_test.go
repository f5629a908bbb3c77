package column

import (
	"bytes"
	"testing"

	"github.com/arrowmask/arrowmask/internal/kernelbench"
	"github.com/arrowmask/arrowmask/kernels"
)

// TestWays: all ways agree, also where there are more threads than rows or no
// rows at all.
func TestWays(t *testing.T) {
	for _, rows := range []int{0, 1, 3, 700} {
		b := New(rows, 7, Equal(20))
		if b.Rows() != rows || b.Array.Len() != rows || b.Plain.Len() != rows || len(b.Data) != 20*rows {
			t.Fatalf("%d rows: %d, %d and %d of %d bytes", rows, b.Rows(), b.Array.Len(), b.Plain.Len(), len(b.Data))
		}
		for _, threads := range []int{1, 2, 5} {
			for _, raw := range []bool{false, true} {
				d := Digest{Alg: kernels.SHA1, Raw: raw, Threads: threads}
				api, err := d.API(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				bare, err := d.Kernels(1000)
				if err != nil {
					t.Fatal(err)
				}
				loop := d.Loop(func(out, data []byte, offsets []int32) {
					kernelbench.RowLoop(out, d.Alg, raw, data, offsets)
				})
				want, _, err := loop(b)
				if err != nil || len(want) != rows*d.Width() {
					t.Fatalf("%d bytes for %d rows: %v", len(want), rows, err)
				}
				for name, way := range map[string]Way{"api": api, "kernels": bare} {
					out, free, err := way(b)
					if err != nil || !bytes.Equal(out, want) {
						t.Errorf("%s of %d rows, threads=%d raw=%v: differs, %v", name, rows, threads, raw, err)
					}
					free()
				}
			}
		}
	}
}
