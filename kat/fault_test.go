package kat

import (
	"encoding/hex"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/kernels"
)

// faulty is a backend with a fault of the kind that real ones had.
type faulty struct {
	*kernels.Hash
	sum func(h *kernels.Hash, dst []byte, col *kernels.Column, lo, hi int) error
}

func (f faulty) Sum(dst []byte, col *kernels.Column, lo, hi int) error {
	return f.sum(f.Hash, dst, col, lo, hi)
}

var errFault = errors.New("fault")

// spoil runs the true digest and then flips a bit of each row that bad names.
func spoil(bad func(col *kernels.Column, row, lo, hi int) bool) func(*kernels.Hash, []byte, *kernels.Column, int, int) error {
	return func(h *kernels.Hash, dst []byte, col *kernels.Column, lo, hi int) error {
		err := h.Sum(dst, col, lo, hi)
		for i := lo; i < hi; i++ {
			if bad(col, i, lo, hi) {
				dst[(i-lo+1)*h.Size()-1] ^= 1
			}
		}
		return err
	}
}

// TestBrokenBackendIsFound puts faults into one backend: the vectors that meet
// the fault fail, the report names that backend and no other.
func TestBrokenBackendIsFound(t *testing.T) {
	if fips.Enabled() {
		t.Skip("only std runs in FIPS mode")
	}
	length := func(want func(n int) bool) func(*kernels.Column, int, int, int) bool {
		return func(col *kernels.Column, row, _, _ int) bool { return want(len(col.Row(row))) }
	}
	const dir = "../testdata/kat/sha256/"
	files := []string{dir + "lengths.tsv", dir + "published.tsv", dir + "monte.tsv"}
	for _, c := range []struct {
		name  string
		sum   func(*kernels.Hash, []byte, *kernels.Column, int, int) error
		where string // where the first failure of some vector is
	}{
		{"every digest", spoil(func(*kernels.Column, int, int, int) bool { return true }), "32-bit offsets"},
		{"padding fills a block", spoil(length(func(n int) bool { return n == 56 })), "32-bit offsets"},
		{"16-bit length", spoil(length(func(n int) bool { return n > 65535 })), "32-bit offsets"},
		{"an unaligned message", spoil(func(col *kernels.Column, row, _, _ int) bool {
			b := col.Row(row)
			return len(b) > 0 && reflect.ValueOf(&b[0]).Pointer()%64 == 63
		}), "32-bit offsets"},
		{"a lane after a longer neighbour", spoil(func(col *kernels.Column, row, lo, _ int) bool {
			return row > lo && len(col.Row(row)) < 128 && len(col.Row(row-1)) > 128
		}), "32-bit offsets"},
		{"the last row of a full group", spoil(func(_ *kernels.Column, row, lo, hi int) bool { return hi-lo >= 16 && (row-lo)%16 == 15 }), "32-bit offsets"},
		{"a call that does not begin at row 0", spoil(func(_ *kernels.Column, _, lo, _ int) bool { return lo > 0 }), "64-bit offsets, selection"},
		{"many rows of a fixed width", spoil(func(_ *kernels.Column, _, lo, hi int) bool { return hi-lo == 100 }), "monte carlo"},
		{"writes past the output", func(h *kernels.Hash, dst []byte, col *kernels.Column, lo, hi int) error {
			err := h.Sum(dst, col, lo, hi)
			if n := (hi - lo) * h.Size(); len(dst) > n {
				dst[n] = 0
			}
			return err
		}, "32-bit offsets"},
		{"an error", func(*kernels.Hash, []byte, *kernels.Column, int, int) error { return errFault }, "32-bit offsets"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRunner()
			r.hash = func(h *kernels.Hash) summer {
				if h.Backend().Name != "generic" {
					return h
				}
				return faulty{h, c.sum}
			}
			report, err := r.run(t.Context(), Options{Files: files})
			if err != nil {
				t.Fatal(err)
			}
			if report.Failed == 0 {
				t.Fatal("not found")
			}
			t.Logf("%d vectors failed", report.Failed)
			for _, f := range report.Failures {
				if f.Backend != "generic" {
					t.Fatalf("backend %s is blamed for %s", f.Backend, f.ID)
				}
			}
			if !slices.ContainsFunc(report.Failures, func(f Failure) bool { return f.Where == c.where }) {
				t.Errorf("no failure in the layout %q", c.where)
			}
		})
	}
}

// TestLayouts: every message lies, in every layout, at as many addresses
// modulo 64 as there are messages, and its bytes are the message's.
func TestLayouts(t *testing.T) {
	var batch []*digest
	for i := range 200 {
		message := make([]byte, (i*13)%150+1)
		for j := range message {
			message[j] = byte(i + j)
		}
		batch = append(batch, &digest{message: message})
	}
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			at := make(map[uintptr]bool)
			seen := make(map[*digest]bool)
			mixed := 0
			for _, p := range l.build(batch) {
				if err := p.col.Validate(); err != nil {
					t.Fatal(err)
				}
				if p.col.Len() != len(p.rows) {
					t.Fatalf("%d rows, %d vectors", p.col.Len(), len(p.rows))
				}
				for i, d := range p.rows {
					got := p.col.Row(i)
					if i > 0 && len(p.col.Row(i-1)) != len(got) {
						mixed++
					}
					if d == nil {
						continue
					}
					seen[d] = true
					if string(got) != string(d.message) {
						t.Fatalf("row %d is %s", i, hex.EncodeToString(got))
					}
					at[reflect.ValueOf(&got[0]).Pointer()%64] = true
				}
			}
			if len(seen) != len(batch) {
				t.Errorf("%d of %d messages", len(seen), len(batch))
			}
			if len(at) != 64 {
				t.Errorf("messages begin at %d of 64 addresses", len(at))
			}
			if mixed < len(batch) && l.name != "fixed width" {
				t.Errorf("only %d neighbours differ in length", mixed)
			}
		})
	}
}
