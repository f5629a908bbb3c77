package kat

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/arrowmask/arrowmask/kernels"
)

// digest is a vector of package kernels.
type digest struct {
	vector  *Vector
	alg     kernels.Alg
	keyed   bool
	key     []byte
	message []byte // the seed of a Monte Carlo test
	want    []byte
	prefix  bool // want is the beginning of the answer
	rounds  int  // of a Monte Carlo test; 0: the plain digest
}

func newDigest(v *Vector) (*digest, error) {
	d := &digest{vector: v}
	name := v.Function
	if name, d.keyed = strings.CutPrefix(name, "hmac_"); d.keyed {
		if len(v.Args) != 2 {
			return nil, v.fail("%s takes a key and a message", v.Function)
		}
		d.key = v.Args[0].Bytes
	} else if len(v.Args) != 1 {
		return nil, v.fail("%s takes one message", v.Function)
	}
	for _, t := range append(v.Args, v.Expected...) {
		switch t.Tag {
		case TagText, TagBytes, TagPattern, TagRepeat:
		default:
			return nil, v.fail("%s works on bytes, not on %s", v.Function, t.Tag)
		}
	}
	if len(v.Expected) != 1 {
		return nil, v.fail("%s has one answer", v.Function)
	}
	var err error
	if d.alg, err = kernels.ParseAlg(name); err != nil || d.keyed && !d.alg.SHA2() {
		return nil, v.fail("no algorithm is called %q", v.Function)
	}
	d.message, d.want = v.Args[len(v.Args)-1].Bytes, v.Expected[0].Bytes
	size := d.alg.Size()
	for _, m := range v.modes() {
		name, value, _ := strings.Cut(m, "=")
		n, err := strconv.Atoi(value)
		switch {
		case name == "truncate" && err == nil && n > 0 && n <= size:
			d.prefix, size = true, n
		case name == "monte" && err == nil && n > 0 && n <= 1e6 && !d.keyed && len(d.message) == size:
			d.rounds = n
		default:
			return nil, v.fail("mode %q is not truncate=BYTES, nor monte=ROUNDS with a seed of a digest's length", m)
		}
	}
	if len(d.want) != size {
		return nil, v.fail("the answer has %d bytes instead of %d", len(d.want), size)
	}
	return d, nil
}

// digests runs the vectors of one file, batch by batch, on every backend.
func (r *runner) digests(all []*digest) error {
	// A batch shares what a Hash is bound to, and the way it is run.
	type group struct {
		alg    kernels.Alg
		key    string
		rounds int
	}
	var order []group
	batches := make(map[group][]*digest)
	for _, d := range all {
		g := group{d.alg, "", d.rounds}
		if d.keyed {
			g.key = "key " + string(d.key)
		}
		if batches[g] == nil {
			order = append(order, g)
		}
		batches[g] = append(batches[g], d)
	}
	for _, g := range order {
		for _, b := range r.backends[g.alg] {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			r.batch(b, batches[g])
		}
	}
	return nil
}

// batch runs vectors of one algorithm and key on one backend.
func (r *runner) batch(b *kernels.Backend, batch []*digest) {
	tally := r.report.backend(b)
	tally.Vectors += len(batch)
	failed := make(map[*digest]bool)
	fail := func(d *digest, where, want, got string) {
		if !failed[d] { // once a backend
			failed[d] = true
			tally.Failed++
			r.report.fail(d.vector, b.Name, where, want, got)
		}
	}
	hash := kernels.New(b)
	if batch[0].keyed {
		var err error
		if hash, err = kernels.NewHMAC(b, batch[0].key); err != nil {
			for _, d := range batch {
				fail(d, "key", "an HMAC", err.Error())
			}
			return
		}
	}
	h := r.hash(hash)
	check := func(where string, rows []*digest, got []byte, err error) {
		for i, d := range rows {
			if d == nil { // a neighbour
				continue
			}
			if err != nil {
				fail(d, where, hex.EncodeToString(d.want), err.Error())
				continue
			}
			sum := got[i*h.Size() : (i+1)*h.Size()]
			if d.prefix {
				sum = sum[:len(d.want)]
			}
			if !bytes.Equal(sum, d.want) {
				fail(d, where, hex.EncodeToString(d.want), hex.EncodeToString(sum))
			}
		}
	}
	if batch[0].rounds > 0 {
		got, err := monteCarlo(h, batch)
		check("monte carlo", batch, got, err)
		return
	}
	for _, l := range layouts {
		for _, c := range l.build(batch) {
			got, err := sumAll(h, &c.col, l.chunk)
			check(l.name, c.rows, got, err)
		}
	}
}

// sumAll digests all rows of a column, chunk rows a call (0: all at once), and
// checks that nothing was written past the end of the output.
func sumAll(h summer, col *kernels.Column, chunk int) ([]byte, error) {
	if err := col.Validate(); err != nil {
		return nil, err
	}
	n := col.Len()
	if chunk == 0 {
		chunk = max(n, 1)
	}
	const fence = 0xa5
	out := bytes.Repeat([]byte{fence}, n*h.Size()+1)
	for lo := 0; lo < n; lo += chunk {
		if err := h.Sum(out[lo*h.Size():], col, lo, min(lo+chunk, n)); err != nil {
			return nil, err
		}
	}
	if out[len(out)-1] != fence {
		return nil, fmt.Errorf("wrote past the output")
	}
	return out, nil
}

// monteCarlo runs the Monte Carlo test of the NIST Secure Hash Algorithm
// Validation System, section 6.4, on all seeds side by side:
// MD[i] = digest(MD[i-3] || MD[i-2] || MD[i-1]), the first three being the seed.
func monteCarlo(h summer, batch []*digest) ([]byte, error) {
	size := h.Size()
	width := 3 * size
	data := make([]byte, len(batch)*width)
	for i, d := range batch {
		for j := range 3 {
			copy(data[i*width+j*size:], d.message)
		}
	}
	col := kernels.FixedWidth(data, width, len(batch))
	var sums []byte
	for range batch[0].rounds {
		var err error
		if sums, err = sumAll(h, &col, 0); err != nil {
			return nil, err
		}
		for i := range batch {
			row := data[i*width : (i+1)*width]
			copy(row, row[size:])
			copy(row[2*size:], sums[i*size:(i+1)*size])
		}
	}
	return sums, nil
}
