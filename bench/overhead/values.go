package overhead

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/minio/blake2b-simd"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/mask"
)

// valueSetup is what is set up for every value of a column and need not be: a
// digest object, a salted state, a compiled regular expression. The strings
// are of 8 to 64 bytes, the answers lower-case hex.
const (
	setupValues = 1 << 16
	setupSalt   = "0123456789abcdef" // of the benchmark alone
	setupRegex  = `[0-9]+`
)

func valueSetup(b *bench) error {
	in := texts(random(7), setupValues, 8, 64)
	column := textColumn(in)
	defer column.Release()
	few := in[:setupValues/64]
	keys := mask.NewKeyring()
	if err := keys.Add("salt", []byte(setupSalt)); err != nil {
		return err
	}
	hashed := sha256.New()
	config := &blake2b.Config{Size: 32, Salt: []byte(setupSalt)}
	salted, err := blake2b.New(config)
	if err != nil {
		return err
	}
	re := regexp.MustCompile(setupRegex)
	var buf [32]byte
	works := []struct {
		name, expr string
		ways       []valueWay
	}{
		{"sha256", "sha2({col}, 256)", []valueWay{
			{"object-per-value", in, func(s string) string { h := sha256.New(); h.Write([]byte(s)); return hex.EncodeToString(h.Sum(nil)) }},
			{"reset", in, func(s string) string {
				hashed.Reset()
				hashed.Write([]byte(s))
				return hex.EncodeToString(hashed.Sum(buf[:0]))
			}},
			{"one-shot", in, func(s string) string { d := sha256.Sum256([]byte(s)); return hex.EncodeToString(d[:]) }},
		}},
		{"blake2b-salted", "blake2b({col}, 'salt')", []valueWay{
			{"object-per-value", in, func(s string) string {
				h, err := blake2b.New(config)
				if err != nil {
					return err.Error()
				}
				h.Write([]byte(s))
				return hex.EncodeToString(h.Sum(nil))
			}},
			{"reset", in, func(s string) string {
				salted.Reset()
				salted.Write([]byte(s))
				return hex.EncodeToString(salted.Sum(buf[:0]))
			}},
		}},
		{"regex", "regexp_replace({col}, '" + setupRegex + "', '*')", []valueWay{
			{"compile-per-value", few, func(s string) string { return regexp.MustCompile(setupRegex).ReplaceAllLiteralString(s, "*") }},
			{"compiled-once", in, func(s string) string { return re.ReplaceAllLiteralString(s, "*") }},
		}},
	}
	var table [][]string
	for _, w := range works {
		f, err := arrowudf.Compile(w.expr, arrow.BinaryTypes.String, arrowudf.Options{Dialect: "opensearch", Keys: keys})
		if errors.Is(err, fips.ErrNotApproved) {
			if err := b.skip(w.name, err); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		records, err := valueCell(b, w.name, f, column, w.ways)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		for _, r := range records {
			table = append(table, []string{w.name, r.Side, result.Figure(r.Median), fmt.Sprintf("%.2f", r.Extra["allocs"]), times(r)})
		}
	}
	b.table("Set-up of a value: strings of 8 to 64 bytes", []string{"mask", "side", "ns a value", "allocations a value", "x arrowmask"}, table,
		"arrowmask's allocations are those of the whole column.")
	return nil
}

// valueWay is a row loop over strings.
type valueWay struct {
	name string
	in   []string
	f    func(string) string
}

func valueCell(b *bench, name string, f *arrowudf.Func, column arrow.Array, loops []valueWay) ([]result.Record, error) {
	out, err := f.Call(b.ctx, column)
	if err != nil {
		return nil, err
	}
	defer out.Release()
	ours := func() error {
		out, err := f.Call(b.ctx, column)
		if err == nil {
			out.Release()
		}
		return err
	}
	ways := []way{{name: result.Ours, ops: column.Len(), run: ours}}
	kept := make([]string, column.Len()) // a row loop's output column
	for _, l := range loops {
		run := func() error {
			for i, s := range l.in {
				kept[i] = l.f(s)
			}
			return nil
		}
		if err := run(); err != nil {
			return nil, err
		}
		for i := range l.in {
			if kept[i] != out.(*array.String).Value(i) {
				return nil, fmt.Errorf("value %d differs by %s", i, l.name)
			}
		}
		ways = append(ways, way{name: l.name, ops: len(l.in), run: run})
	}
	for i := range ways {
		n, err := mallocs(ways[i].run)
		if err != nil {
			return nil, err
		}
		ways[i].extra = map[string]float64{"allocs": n / float64(ways[i].ops)}
	}
	// A column is held to a few allocations, whatever its rows.
	b.budget("O4", "allocations-of-a-column-of-"+name, "allocs", 50, ways[0].extra["allocs"]*float64(ways[0].ops))
	return b.measure(result.Keys("work", "value-setup", "mask", name), "ns/row", ways...)
}
