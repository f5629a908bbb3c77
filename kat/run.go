package kat

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/kernels"
)

// Options configure Run. The zero value runs the vectors that the program
// carries on every backend that this machine can run.
type Options struct {
	// Files are vector files, or folders in which every *.tsv counts. Empty:
	// the vectors that the program carries, or all of FS where it is set.
	Files []string
	// FS is where Files are looked up; nil: the operating system's files.
	FS fs.FS
	// Backends are names of package kernels; empty: all that are available.
	Backends []string
}

// Run reads the vector files, runs every vector and reports. A vector that
// gives another answer than expected is a failure in the report, not an error;
// one that cannot be run here (a dialect or a function that is not offered,
// say) is skipped with the reason. Vectors are independent of each other.
//
// In FIPS mode only the backend "std" runs, and MD5 and SHA-1 are skipped.
//
// Errors: a *LineError, an error of the file system, of fips or of the
// context, or one that wraps kernels.ErrUnknownBackend or
// kernels.ErrUnsupportedBackend for Backends.
func Run(ctx context.Context, o Options) (*Report, error) {
	return newRunner().run(ctx, o)
}

// summer is what runs digests; a *kernels.Hash unless a test put a fault in.
type summer interface {
	Size() int
	Sum(dst []byte, col *kernels.Column, lo, hi int) error
}

type runner struct {
	ctx      context.Context
	report   *Report
	backends map[kernels.Alg][]*kernels.Backend // to run on
	hash     func(*kernels.Hash) summer
}

func newRunner() *runner {
	return &runner{hash: func(h *kernels.Hash) summer { return h }}
}

func (r *runner) run(ctx context.Context, o Options) (*Report, error) {
	vectors, err := load(o)
	if err != nil {
		return nil, err
	}
	return r.vectors(ctx, vectors, o.Backends)
}

// vectors runs vectors that were read, those of a file side by side.
func (r *runner) vectors(ctx context.Context, vectors []Vector, backends []string) (*Report, error) {
	if err := fips.Err(); err != nil {
		return nil, err
	}
	r.ctx, r.report = ctx, newReport()
	if err := r.choose(backends); err != nil {
		return nil, err
	}
	for lo := 0; lo < len(vectors); {
		hi := lo + 1
		for hi < len(vectors) && vectors[hi].File == vectors[lo].File {
			hi++
		}
		if err := r.file(vectors[lo:hi]); err != nil {
			return nil, err
		}
		lo = hi
	}
	return r.report, nil
}

// choose fills the backends to run on and the ledger.
func (r *runner) choose(names []string) error {
	if fips.Enabled() {
		for _, n := range names {
			if n != fipsBackend {
				return fmt.Errorf("backend %q: %w", n, fips.ErrNotApproved)
			}
		}
		names = []string{fipsBackend}
	}
	r.backends = make(map[kernels.Alg][]*kernels.Backend)
	known := make(map[string]bool)  // names of any backend
	usable := make(map[string]bool) // names of one that this machine can run
	for _, alg := range kernels.Algs() {
		for _, b := range kernels.All(alg) {
			known[b.Name] = true
			wanted := len(names) == 0 || slices.Contains(names, b.Name)
			tally := r.report.backend(b)
			switch tally.Reason = b.Reason(); {
			case !wanted:
				tally.Reason = "not asked for"
			case tally.Reason == "":
				usable[b.Name] = true
				r.backends[alg] = append(r.backends[alg], b)
			}
		}
	}
	for _, n := range names {
		switch {
		case !known[n]:
			return fmt.Errorf("%w: %q", kernels.ErrUnknownBackend, n)
		case !usable[n]:
			return fmt.Errorf("%w: %q", kernels.ErrUnsupportedBackend, n)
		}
	}
	return nil
}

// fipsBackend goes through Go's cryptographic module.
const fipsBackend = "std"

// file runs the vectors of one file: digests in batches, the rest one by one.
func (r *runner) file(vectors []Vector) error {
	var digests []*digest
	for i := range vectors {
		v := &vectors[i]
		if v.Dialect == dialectRaw {
			d, err := newDigest(v)
			if err != nil {
				return err
			}
			if reason := r.refusal(d); reason != "" {
				r.report.skip(v, reason)
				continue
			}
			digests = append(digests, d)
			continue
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		r.function(v)
	}
	if err := r.digests(digests); err != nil {
		return err
	}
	if err := r.ctx.Err(); err != nil { // what it broke off is no failure
		return err
	}
	for _, d := range digests {
		r.report.done(d.vector)
	}
	return nil
}

// refusal says why no backend can run the digest here; empty when one can.
func (r *runner) refusal(d *digest) string {
	switch {
	case fips.Enabled() && !d.alg.SHA2():
		return d.alg.String() + " is not approved in FIPS mode"
	case len(r.backends[d.alg]) == 0:
		return "no chosen backend computes " + d.alg.String()
	case d.keyed && fips.Current().Enforced && len(d.key) < minEnforcedKey:
		return "Go's cryptographic module refuses keys of less than 112 bits"
	}
	return ""
}

// minEnforcedKey is in bytes.
const minEnforcedKey = 112 / 8
