package overhead

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/policy"
)

// openSearch is the regression of document-level security in OpenSearch: the
// filters of all indices were written into every request, each as often as it
// occurred. Ours are the plan of a query with each text once, and an id of it.

// openSearchReported is milliseconds a request by indices, under a long filter.
var openSearchReported = map[int]float64{5: 8.45, 50: 252, 100: 985}

// errPlan: a side read something else than was written.
var errPlan = errors.New("another plan came out")

func openSearch(b *bench) error {
	counts, series := []int{1, 5, 10, 50, 100, 1000}, []string{"shared", "different"}
	if b.quick {
		counts, series = []int{5, 100}, series[:1]
	}
	var table, growth [][]string
	for _, s := range series {
		g := growthOf{}
		for _, n := range counts {
			if s == "different" && n != 5 && n < 100 {
				continue // the shape is clear without
			}
			row, err := planCell(b, s, n, g)
			if err != nil {
				return fmt.Errorf("%d tables: %w", n, err)
			}
			table = append(table, row)
		}
		if b.quick {
			continue
		}
		rows, err := g.write(b, s)
		if err != nil {
			return err
		}
		growth = append(growth, rows...)
	}
	b.table("OpenSearch: the plan of a query, 20 masked columns a table, a row filter of 2 kB; us to encode, attach to a request, decode",
		[]string{"filters", "tables", "bytes", "inline JSON", "id", "encode", "JSON", "attach", "JSON", "id", "decode", "JSON", "id", "request ms", "JSON ms", "report ms"}, table,
		"A request encodes, attaches and decodes once. The report, by indices: 8.45 ms (5), 252 (50), 985 (100) with a long filter, 11 to 13 without; 63.5 (100) with each text once.")
	if b.quick {
		return nil
	}
	b.table("OpenSearch: growth from 5 to 1000 tables, p of tables^p (1 is linear)",
		[]string{"filters", "figure", "arrowmask", "last step", "inline JSON", "last step"}, growth,
		"The last step is from 100 to 1000 tables, where what does not grow hardly counts.")
	return fixedPoint(b)
}

// planCell is one number of tables.
func planCell(b *bench, series string, n int, g growthOf) ([]string, error) {
	r := planRules{filter: sharedFilter, masked: planMasked}
	if series == "different" {
		r.filter = ownFilter
	}
	plans, _, err := makePlans(n, r)
	if err != nil {
		return nil, err
	}
	set, err := policy.NewSet(plans...)
	if err != nil {
		return nil, err
	}
	inline, err := encodeInline(plans)
	if err != nil {
		return nil, err
	}
	id := planID{set.Hash(), 7}
	known := map[planID]*policy.Set{id: set}
	idBytes := appendID(nil, id)
	if err := checkPlans(plans, set, inline, idBytes, known); err != nil {
		return nil, err
	}

	key := result.Keys("work", "OpenSearch", "filters", series, "tables", n)
	of := func(stage string) []result.Key {
		return append(key[:len(key):len(key)], result.Key{Name: "stage", Value: stage})
	}
	sizes := []value{{side: result.Ours, x: float64(len(set.Bytes()))}, {side: "inline-json", x: float64(len(inline))}, {side: "id", x: planIDBytes}}
	if err := b.compared(of("size"), "B", sizes...); err != nil {
		return nil, err
	}
	buf := make([]byte, 0, max(len(inline), len(set.Bytes())))
	encode, err := b.measure(of("encode"), "ns",
		way{name: result.Ours, ops: 1, run: func() error { _, err := policy.NewSet(plans...); return err }},
		way{name: "inline-json", ops: 1, run: func() error { _, err := encodeInline(plans); return err }})
	if err != nil {
		return nil, err
	}
	// JSON is made anew for each request, as in the report; ours is kept.
	attach, err := b.measure(of("attach"), "ns",
		way{name: result.Ours, ops: 1, run: func() error { buf = append(buf[:0], set.Bytes()...); return nil }},
		way{name: "inline-json", ops: 1, run: func() error {
			body, err := encodeInline(plans)
			buf = append(buf[:0], body...)
			return err
		}},
		way{name: "id", ops: 1, run: func() error { buf = appendID(buf[:0], id); return nil }})
	if err != nil {
		return nil, err
	}
	decode, err := b.measure(of("decode"), "ns",
		way{name: result.Ours, ops: 1, run: func() error { _, err := policy.Decode(set.Bytes()); return err }},
		way{name: "inline-json", ops: 1, run: func() error { _, _, err := decodeInline(inline); return err }},
		way{name: "id", ops: 1, run: func() error {
			id, err := readID(idBytes)
			if known[id] == nil {
				return errPlan
			}
			return err
		}})
	if err != nil {
		return nil, err
	}
	// JSON is encoded when it is attached: it has no step of its own.
	request := (encode[0].Median + attach[0].Median + decode[0].Median) / 1e6
	inlineRequest := (attach[1].Median + decode[1].Median) / 1e6
	report := "-"
	if ms, ok := openSearchReported[n]; ok && series == "shared" {
		report = result.Figure(ms)
		if err := b.reported(of("request"), "before", "ms", ms); err != nil {
			return nil, err
		}
	}
	if n == 100 && series == "shared" {
		if err := b.reported(of("request"), "after", "ms", 63.5); err != nil {
			return nil, err
		}
	}
	if err := b.compared(of("request"), "ms", value{side: result.Ours, x: request}, value{side: "inline-json", x: inlineRequest}); err != nil {
		return nil, err
	}
	if n >= 5 {
		g.add("bytes", float64(n), float64(len(set.Bytes())), float64(len(inline)))
		g.add("encode", float64(n), encode[0].Min, encode[1].Min)
		g.add("decode", float64(n), decode[0].Min, decode[1].Min)
		g.add("attach", float64(n), attach[0].Min, attach[1].Min)
	}
	us := func(r result.Record) string { return result.Figure(r.Median / 1e3) }
	return []string{
		series, strconv.Itoa(n), strconv.Itoa(len(set.Bytes())), strconv.Itoa(len(inline)), strconv.Itoa(planIDBytes),
		us(encode[0]), us(encode[1]), us(attach[0]), us(attach[1]), us(attach[2]), us(decode[0]), us(decode[1]), us(decode[2]),
		result.Figure(request), result.Figure(inlineRequest), report,
	}, nil
}

// checkPlans proves that every side reads what was written.
func checkPlans(plans []*policy.Plan, set *policy.Set, inline, idBytes []byte, known map[planID]*policy.Set) error {
	read, filters, err := decodeInline(inline)
	if err != nil {
		return err
	}
	if err := sameInline(plans, read, filters); err != nil {
		return err
	}
	again, err := policy.Decode(set.Bytes())
	if err != nil {
		return err
	}
	back, err := encodeInline(again.Plans())
	if err != nil {
		return err
	}
	want, err := encodeInline(set.Plans())
	if err != nil {
		return err
	}
	id, err := readID(idBytes)
	if err != nil {
		return err
	}
	if !bytes.Equal(again.Bytes(), set.Bytes()) || !bytes.Equal(back, want) || known[id] != set {
		return errPlan
	}
	return nil
}

// growthOf collects figures by the number of tables: x, ours, inline.
type growthOf map[string][3][]float64

func (g growthOf) add(figure string, x, ours, inline float64) {
	p := g[figure]
	for i, v := range []float64{x, ours, inline} {
		p[i] = append(p[i], v)
	}
	g[figure] = p
}

// write fits the exponents. Those of ours are a budget.
func (g growthOf) write(b *bench, series string) (rows [][]string, err error) {
	for _, figure := range []string{"bytes", "encode", "attach", "decode"} {
		p := g[figure]
		last := len(p[0]) - 2
		var all, step [2]float64
		for side := range 2 {
			if all[side], err = Exponent(p[0], p[1+side]); err != nil {
				return nil, err
			}
			if step[side], err = Exponent(p[0][last:], p[1+side][last:]); err != nil {
				return nil, err
			}
		}
		key := result.Keys("work", "OpenSearch", "filters", series, "growth", figure)
		if err := b.values(key, "exponent",
			value{side: result.Ours, x: all[0], extra: map[string]float64{"last_step": step[0]}},
			value{side: "inline-json", x: all[1], extra: map[string]float64{"last_step": step[1]}}); err != nil {
			return nil, err
		}
		// To attach is to copy, which costs by the cache that the bytes fit in.
		if figure != "attach" {
			b.budget("O10", series+"-"+figure+"-exponent", "exponent", 1, all[0])
		}
		rows = append(rows, []string{series, figure, fmt.Sprintf("%.3f", all[0]), fmt.Sprintf("%.3f", step[0]), fmt.Sprintf("%.3f", all[1]), fmt.Sprintf("%.3f", step[1])})
	}
	return rows, nil
}

// fixedPoint is the report's own map, 100 indices with the same 100 filters
// each, as far as it translates: a table here has one filter, so it is one of
// 100 terms. Sizes are those of base64, which is how a request carried it.
func fixedPoint(b *bench) error {
	terms := make([]string, 100)
	for i := range terms {
		terms[i] = fmt.Sprintf("c0 = 'f%02d'", i)
	}
	filter := strings.Join(terms, " or ")
	plans, _, err := makePlans(100, planRules{filter: func(string) string { return filter }})
	if err != nil {
		return err
	}
	set, err := policy.NewSet(plans...)
	if err != nil {
		return err
	}
	inline, err := encodeInline(plans)
	if err != nil {
		return err
	}
	if err := checkPlans(plans, set, inline, appendID(nil, planID{set.Hash(), 7}), map[planID]*policy.Set{{set.Hash(), 7}: set}); err != nil {
		return err
	}
	chars := func(b []byte) float64 { return float64(base64.StdEncoding.EncodedLen(len(b))) }
	key := result.Keys("work", "OpenSearch", "map", "100x100")
	size := append(key[:len(key):len(key)], result.Key{Name: "stage", Value: "size"})
	if err := b.compared(size, "chars", value{side: result.Ours, x: chars(set.Bytes())}, value{side: "inline-json", x: chars(inline)}); err != nil {
		return err
	}
	if err := b.reported(size, "before", "chars", 184792); err != nil {
		return err
	}
	if err := b.reported(size, "after", "chars", 3832); err != nil {
		return err
	}
	both := append(key[:len(key):len(key)], result.Key{Name: "stage", Value: "encode+decode"})
	r, err := b.measure(both, "ns",
		way{name: result.Ours, ops: 1, run: func() error {
			s, err := policy.NewSet(plans...)
			if err == nil {
				_, err = policy.Decode(s.Bytes())
			}
			return err
		}},
		way{name: "inline-json", ops: 1, run: func() error {
			body, err := encodeInline(plans)
			if err == nil {
				_, _, err = decodeInline(body)
			}
			return err
		}})
	if err != nil {
		return err
	}
	for _, f := range []struct {
		side string
		ms   float64
	}{{"before", 946}, {"after", 5.66}, {"platform", 0.20}} {
		if err := b.reported(both, f.side, "ms", f.ms); err != nil {
			return err
		}
	}
	b.table("OpenSearch: the map of 100 indices with the same 100 filters, in characters of base64",
		[]string{"", "chars", "encode and decode, ms"}, [][]string{
			{"arrowmask, each text once", result.Figure(chars(set.Bytes())), result.Figure(r[0].Median / 1e6)},
			{"inline JSON", result.Figure(chars(inline)), result.Figure(r[1].Median / 1e6)},
			{"report, each text as often as it occurs", "184792", "946"},
			{"report, each text once", "3832", "5.66"},
			{"report, the platform's serialiser", "-", "0.20"},
		})
	return nil
}
