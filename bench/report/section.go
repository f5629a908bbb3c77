package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/plotter"

	"github.com/arrowmask/arrowmask/bench/result"
)

// section is a part of the page.
type section struct {
	ID, Title string
	Text      string // what is to be seen and how to read it
	Figures   []figure
	Tables    []table
	Missing   string // why there is nothing, where there is nothing
}

type figure struct {
	File string // of the SVG, beside the page
	Alt  string // what it shows, for who cannot see it
	SVG  []byte
}

type table struct {
	Caption string
	Head    []string
	Rows    [][]string
}

// sections are all parts of the page in order.
func (r Run) sections() ([]section, error) {
	var all []section
	for _, make := range []func(Run) (section, error){
		Run.digestSection, Run.limitSection, Run.impalaSection, Run.enginesSection, Run.pipelineSection, Run.overheadSection,
	} {
		s, err := make(r)
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", s.ID, err)
		}
		if len(s.Figures)+len(s.Tables) == 0 {
			s.Missing = "The records have nothing of this suite: it was not run, or could not be run on this machine."
		}
		all = append(all, s)
	}
	return all, nil
}

var algorithms = []string{"sha256", "md5", "sha1", "sha512"}

func (r Run) digestSection() (section, error) {
	s := section{
		ID: "digest", Title: "A column of rows of one length",
		Text: "Time of a row by its length: hex output, one thread, a million rows in batches, the public API (an Arrow array in, another out, in memory that is used again) beside loops over the rows that write into memory that is there already. " +
			"Both axes grow by factors; lower is better. Steps are the blocks of the digest: 64 bytes, 128 for SHA-512.",
	}
	for _, alg := range algorithms {
		records := r.where("digest", "alg", alg, "out", "hex", "threads", "1")
		all := linesBy(records, "len", least)
		if len(all) == 0 {
			continue
		}
		svg, err := lines(alg+", hex, one thread", axis{label: "length of a row (bytes)", log: true, marks: lengths(records)}, axis{label: "time of a row (ns)", log: true}, all)
		if err != nil {
			return s, err
		}
		s.Figures = append(s.Figures, figure{"digest-" + alg + ".svg", "Time of a row against its length for " + alg + ", a line for each of " + join(sides(records)), svg})
	}
	if t := r.timesTable("digest", "hex output, ns a row, and how many times as long the others took", []string{"alg", "len", "threads"}, "out", "hex"); len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	}
	if t := r.timesTable("digest", "raw digests", []string{"alg", "len", "threads"}, "out", "raw"); len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	}
	return s, nil
}

// linesBy has a line a side: its records' figures against a key of their case.
// Cells whose key is no number are left out.
func linesBy(records []result.Record, key string, figure func(result.Record) float64) []series {
	var all []series
	for _, side := range sides(records) {
		line := series{name: side}
		for _, rec := range records {
			if x, err := strconv.ParseFloat(rec.Get(key), 64); rec.Side == side && err == nil {
				line.points = append(line.points, plotter.XY{X: x, Y: figure(rec)})
			}
		}
		if len(line.points) > 0 {
			all = append(all, line)
		}
	}
	return all
}

// least is what the work took where nothing else disturbed it, which is also what
// ratios are of.
func least(r result.Record) float64 { return r.Min }

// xs is where the first of some lines has its points.
func xs(all []series) []float64 {
	if len(all) == 0 {
		return nil
	}
	marks := make([]float64, len(all[0].points))
	for i, p := range all[0].points {
		marks[i] = p.X
	}
	return marks
}

// lengths are the numeric lengths that leave room for each other's label on a
// logarithmic axis.
func lengths(records []result.Record) []float64 {
	var marks []float64
	for _, rec := range records {
		n, err := strconv.ParseFloat(rec.Get("len"), 64)
		if err == nil && (len(marks) == 0 || n > 1.3*marks[len(marks)-1]) {
			marks = append(marks, n)
		}
	}
	return marks
}

func (r Run) limitSection() (section, error) {
	s := section{
		ID: "limit", Title: "How far from the processor's limit",
		Text: "For rows of 32 bytes: the bare block function of the active backend on data that is in the first-level cache already, all steps of a row over one chunk, a whole column from memory to memory, the public API with a Recycler, and with Go's own fresh memory. " +
			"What lies between the first two bars is gathering, padding, transposing and hex; between the last two it is new memory, which costs as much as the machine's page faults do.",
	}
	parts := []string{"bare block", "chunk in cache", "column", "API, memory used again", "API, fresh memory"}
	var algs []string
	values := make([][]float64, len(parts))
	stages := table{Caption: "stages, ns a row of 32 bytes", Head: []string{"digest", "backend", "gather", "pack", "compress", "hex", "together", "together / bare block"}}
	for _, alg := range algorithms {
		kernel, ok := r.one(result.Ours, "limit", "part", "kernel", "alg", alg, "blocks", "1")
		if !ok {
			continue
		}
		algs = append(algs, alg)
		values[0] = append(values[0], kernel.Min)
		row := []string{alg, kernel.Get("backend")}
		for _, stage := range []string{"gather", "pack", "compress", "hex", "all"} {
			row = append(row, r.stage(alg, stage, least))
		}
		stages.Rows = append(stages.Rows, append(row, r.stage(alg, "all", func(x result.Record) float64 { return x.Extra["over_kernel"] })))
		for i, stage := range []string{"all", "column", "recycled", "call"} {
			v := math.NaN()
			if rec, ok := r.one(result.Ours, "limit", "part", "stages", "alg", alg, "stage", stage); ok {
				v = rec.Min
			}
			values[i+1] = append(values[i+1], v)
		}
	}
	if len(algs) == 0 {
		return s, nil
	}
	svg, err := bars("From the bare block function to the public API", "time of a row of 32 bytes (ns)", algs, parts, values)
	if err != nil {
		return s, err
	}
	s.Figures = []figure{{"limit.svg", "Bars for each digest: " + join(parts), svg}}
	s.Tables = []table{stages}
	if t := r.timesTable("limit", "bare block functions, ns a block; the standard library's is one long message", []string{"alg", "backend", "blocks"}, "part", "kernel"); len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	}
	return s, nil
}

func (r Run) stage(alg, stage string, of func(result.Record) float64) string {
	rec, ok := r.one(result.Ours, "limit", "part", "stages", "alg", alg, "stage", stage, "len", "32")
	if !ok {
		return ""
	}
	return result.Figure(of(rec))
}

func (r Run) impalaSection() (section, error) {
	s := section{
		ID: "impala", Title: "IMPALA-15424: a row at a time, before and after its fix",
		Text: "The pattern of Impala's row functions in C++ over OpenSSL 3: before, with a FIPS query, a digest by its legacy handle and a string stream for every row; after, with a fetched digest, a context kept by the thread and a table for hex. " +
			"The report's own figures for sha2(x, 256) of 32 bytes: 1267 ns a row before, 96 after, on one thread; 2.5 million rows a second before and 101 million after on 16 threads.",
	}
	for _, alg := range algorithms {
		records := r.where("impala", "alg", alg, "len", "32")
		all := linesBy(records, "threads", func(r result.Record) float64 { return 1000 / r.Min })
		threads := xs(all)
		if len(threads) < 2 {
			continue
		}
		svg, err := lines(fmt.Sprintf("%s of 32 bytes, hex, by threads on %d processors", alg, r.Machine.CPUs),
			axis{label: "threads", log: true, marks: threads}, axis{label: "million rows a second", log: true}, all)
		if err != nil {
			return s, err
		}
		s.Figures = append(s.Figures, figure{"impala-" + alg + ".svg", "Rows a second against threads for " + alg, svg})
	}
	if t := r.timesTable("impala", "ns a row by the clock, and how many times as long the others took", []string{"alg", "len", "threads"}); len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	}
	return s, nil
}

func (r Run) enginesSection() (section, error) {
	s := section{
		ID: "engines", Title: "Other engines",
		Text: "Each engine from its own column in memory to its result in memory; reading its table, where a query cannot do without, is taken off. arrowmask here is a call for every 65,536 rows of the same column, with results in memory that is used again.",
	}
	records := r.where("engines", "alg", "sha256", "len", "32", "threads", "1")
	if len(records) > 0 {
		var groups []string
		values := [][]float64{nil}
		seen := map[string]bool{}
		for _, rec := range records {
			if !seen[rec.Side] {
				seen[rec.Side] = true
				groups, values[0] = append(groups, rec.Side), append(values[0], rec.Min)
			}
		}
		svg, err := bars("sha256 of 32 bytes, one thread", "time of a row (ns)", groups, []string{"time"}, values)
		if err != nil {
			return s, err
		}
		s.Figures = []figure{{"engines.svg", "Time of a row of 32 bytes in " + join(groups), svg}}
	}
	if t := r.timesTable("engines", "ns a row, and how many times as long the others took", []string{"alg", "len", "threads"}); len(t.Rows) > 0 {
		s.Tables = append(s.Tables, t)
	}
	return s, nil
}

func (r Run) pipelineSection() (section, error) {
	s := section{
		ID: "pipeline", Title: "Masking a Parquet file",
		Text: "arrowmask mask on a Parquet file of 20 columns (Snappy) beside DuckDB's COPY of the same table with sha256 over the same columns. Only masked columns are decoded; the others are copied as bytes. " +
			"arrowmask's time is that of the process, DuckDB's that of the statement, without Python's start. The two take turns of a quarter of a second in a round, and what they wrote is brought to the disk between turns, on nobody's time. " +
			"The table has the least of the rounds and the greatest peak of memory; 8-values is one column of country codes.",
	}
	sizes := r.pipelineRows()
	if len(sizes) == 0 {
		return s, nil
	}
	var all []series
	for _, threads := range []string{"1", "2"} {
		for _, line := range linesBy(r.where("pipeline", "rows", sizes[0], "threads", threads), "columns-of-20", least) {
			line.name += ", " + threads + " thread"
			if threads != "1" {
				line.name += "s"
			}
			all = append(all, line)
		}
	}
	slices.SortStableFunc(all, func(a, b series) int { return strings.Compare(a.name, b.name) })
	if len(all) > 0 {
		svg, err := lines("Time by the number of masked columns", axis{label: "masked columns of 20", marks: xs(all)}, axis{label: "wall time for " + thousands(sizes[0]) + " rows (s)"}, all)
		if err != nil {
			return s, err
		}
		s.Figures = []figure{{"pipeline.svg", "Wall time against the number of masked columns, arrowmask and DuckDB", svg}}
	}
	for _, rows := range slices.Backward(sizes) {
		t := table{Caption: thousands(rows) + " rows: wall time, processor time and peak memory", Head: []string{"masked of 20", "threads", "side", "rounds", "wall (s)", "processor (s)", "peak (MB)", "times as long as arrowmask", "processor, times as much"}}
		for _, rec := range r.where("pipeline", "rows", rows) {
			t.Rows = append(t.Rows, []string{rec.Get("columns-of-20"), rec.Get("threads"), rec.Side, strconv.Itoa(rec.Rounds), result.Figure(rec.Min), result.Figure(rec.Extra["cpu_s"]),
				result.Figure(rec.Extra["peak_mb"]), blankZero(rec.Ratio), blankZero(rec.Extra["cpu_ratio"])})
		}
		s.Tables = append(s.Tables, t)
	}
	return s, nil
}

// pipelineRows are the sizes of the files of the suite pipeline, the smallest
// first.
func (r Run) pipelineRows() []string {
	var sizes []string
	for _, rec := range r.where("pipeline") {
		sizes = append(sizes, rec.Get("rows"))
	}
	slices.SortFunc(sizes, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return slices.Compact(sizes)
}

// thousands puts commas into the digits of a whole number.
func thousands(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func (r Run) overheadSection() (section, error) {
	s := section{
		ID: "overhead", Title: "What masking costs beside the masks: four reports",
		Text: "The workloads of IMPALA-15424, of OpenSearch's document-level security, of GEODE-7004 and of Corda's serialisation, with the figures that the reports state (sides reported-...) beside ours. " +
			"The plan of a query says who sees what of its tables: written with each text once it grows with the tables only by a few bytes.",
	}
	for _, f := range []struct{ stage, file, title, label string }{
		{"size", "plan-size.svg", "Size of a plan with one shared filter of 2 kB", "size (bytes)"},
		{"encode", "plan-encode.svg", "Time to encode it", "time (ns)"},
		{"decode", "plan-decode.svg", "Time to decode and check it", "time (ns)"},
	} {
		records := r.where("overhead", "work", "OpenSearch", "filters", "shared", "stage", f.stage)
		all := linesBy(records, "tables", least)
		if len(all) == 0 {
			continue
		}
		svg, err := lines(f.title, axis{label: "tables of the query", log: true, marks: xs(all)}, axis{label: f.label, log: true}, all)
		if err != nil {
			return s, err
		}
		s.Figures = append(s.Figures, figure{f.file, f.title + " against the number of tables", svg})
	}
	t := table{Caption: "all figures", Head: []string{"workload", "cell", "side", "least", "unit", "times as much as arrowmask"}}
	for _, rec := range r.where("overhead") {
		cell := ""
		for _, k := range rec.Case {
			if k.Name != "work" {
				cell += " " + k.Name + "=" + k.Value
			}
		}
		t.Rows = append(t.Rows, []string{rec.Get("work"), cell, rec.Side, result.Figure(rec.Min), rec.Unit, blankZero(rec.Ratio)})
	}
	if len(t.Rows) > 0 {
		s.Tables = []table{t}
	}
	return s, nil
}

// timesTable has a row a cell: its keys, arrowmask's smallest time, and for each
// other side its smallest time with the ratio.
func (r Run) timesTable(suite, caption string, keys []string, only ...string) table {
	records := r.where(suite, only...)
	t := table{Caption: caption, Head: append([]string{}, keys...)}
	names := sides(records)
	t.Head = append(t.Head, names...)
	index := map[string]int{}
	for _, rec := range records {
		var row []string
		id := ""
		for _, k := range keys {
			row = append(row, rec.Get(k))
			id += rec.Get(k) + "\x00"
		}
		i, ok := index[id]
		if !ok {
			i = len(t.Rows)
			index[id] = i
			t.Rows = append(t.Rows, append(row, make([]string, len(names))...))
		}
		for j, name := range names {
			if name == rec.Side {
				text := result.Figure(rec.Min)
				if rec.Ratio != 0 {
					text += fmt.Sprintf(" (%.2f)", rec.Ratio)
				}
				t.Rows[i][len(keys)+j] = text
			}
		}
	}
	return t
}

func blankZero(x float64) string {
	if x == 0 {
		return ""
	}
	return result.Figure(x)
}

func join(names []string) string {
	text := ""
	for i, n := range names {
		switch {
		case i > 0 && i == len(names)-1:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += n
	}
	return text
}
