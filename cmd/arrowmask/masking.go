package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/arrowmask/arrowmask/arrowudf"
	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/tablefile"
)

// masking is one run of arrowmask mask.
type masking struct {
	*maskFlags
	in    string
	sets  []set
	ring  *mask.Keyring
	asked *question // nil: by --set
	log   *audit    // of a run by policies; nil: none
	made  *plan     // nil until the policies have decided
	read  tablefile.ReadOptions
	write tablefile.WriteOptions
	rows  int64
	mem   memory.Allocator // of masked columns; nil: arrow's default
}

// newMasking checks everything that can be checked without the input.
func newMasking(in string, o *maskFlags) (*masking, error) {
	m := &masking{maskFlags: o, in: in}
	return m, inTurn(checkSettings, m.checkFlags, m.checkFormats, m.checkPlaces, m.load)
}

func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// load reads the keys and the policies.
func (m *masking) load() (err error) {
	if m.ring, err = m.keys.keyring(); err != nil {
		return err
	}
	if m.asked, err = m.policy.load(m.dialect); err != nil {
		return err
	}
	return checkSets(m.sets, m.dialect, m.ring)
}

func (m *masking) checkFlags() error {
	if m.output == "" {
		return usagef("no output: give -o FILE, or -o - for standard output")
	}
	byPolicy := m.policy.file != ""
	if len(m.maskFlags.sets) == 0 && !byPolicy && !m.passThrough {
		return usagef("no --set 'COLUMN=EXPRESSION' and no --policy: nothing would be masked; --pass-through does that")
	}
	if (len(m.maskFlags.sets) > 0 || byPolicy) && m.passThrough {
		return usagef("--pass-through masks nothing; it does not go with --set or --policy")
	}
	if err := m.policy.check(m.maskFlags.sets); err != nil {
		return err
	}
	if m.threads < 1 {
		return usagef("--threads %d: want 1 or more", m.threads)
	}
	if _, err := newProgress(m.progress, io.Discard, -1); err != nil {
		return err
	}
	if err := checkRewrite(m.rewrite); err != nil {
		return err
	}
	var err error
	m.sets, err = parseSets(m.maskFlags.sets)
	return err
}

// checkFormats decides how both files are read and written.
func (m *masking) checkFormats() error {
	from, err := m.input.format(m.in)
	if err != nil {
		return err
	}
	to, err := formatOf("--to", m.to, m.output)
	if err != nil {
		return err
	}
	if m.read, err = m.input.options(from, to, m.threads); err != nil {
		return err
	}
	m.read.VerifyChecksums = m.verify
	m.write = tablefile.WriteOptions{Format: to, Overwrite: m.overwrite, Inputs: []string{m.in}}
	if m.compression != "" {
		if m.write.Compression, err = tablefile.ParseCompression(m.compression); err != nil {
			return usagef("--compression: %w", err)
		}
	}
	if to.IsText() {
		m.write.Delimiter = m.read.Delimiter
	}
	if from != to && to.IsText() && m.write.Delimiter == 0 {
		m.write.Delimiter = map[tablefile.Format]byte{tablefile.CSV: ',', tablefile.TSV: '\t'}[to]
	}
	// By policies the columns are chosen when their names are known: all cells
	// are read then.
	if from == to && to.IsText() && m.policy.file == "" {
		m.keepCells()
	}
	return nil
}

// keepCells has the columns that no --set names, nor reads, read as they stand,
// so that their bytes come out unchanged; a --csv-type has no meaning for them.
func (m *masking) keepCells() {
	m.read.Raw = func(_ int, name string) bool { return !m.names(name) }
	if m.read.Schema == nil {
		return
	}
	fields := slices.DeleteFunc(m.read.Schema.Fields(), func(f arrow.Field) bool { return !m.names(f.Name) })
	m.read.Schema = arrow.NewSchema(fields, nil)
}

// names reports whether a --set names the column, or reads it.
func (m *masking) names(column string) bool {
	return slices.ContainsFunc(m.sets, func(s set) bool { return s.column == column || slices.Contains(s.others(), column) })
}

// checkPlaces refuses to write where something would be lost.
func (m *masking) checkPlaces() error {
	if m.output == "-" && m.report == "-" {
		return usagef("standard output cannot take both the data and the report")
	}
	pairs := [][2]string{{m.in, m.output}}
	if m.report != "" {
		pairs = append(pairs, [2]string{m.in, m.report}, [2]string{m.output, m.report})
	}
	if m.audit != "" {
		pairs = append(pairs, [2]string{m.in, m.audit}, [2]string{m.output, m.audit}, [2]string{m.policy.file, m.audit})
	}
	for _, p := range pairs {
		if p[0] == p[1] && p[0] != "-" {
			return usagef("%w: %s", tablefile.ErrSameFile, p[0])
		}
		if err := tablefile.CheckNotSame(p[0], p[1]); err != nil {
			return usageError{err}
		}
	}
	for _, name := range []string{m.output, m.report} {
		if _, err := os.Lstat(name); name != "" && name != "-" && err == nil && !m.overwrite {
			return usagef("%s: %w; --overwrite replaces it", name, tablefile.ErrExists)
		}
	}
	return nil
}

// run masks. The data goes to the output, a report that was asked for with -
// to out, and everything else to errOut.
func (m *masking) run(ctx context.Context, out, errOut io.Writer) error {
	if m.asked != nil {
		return m.runPolicy(ctx, out, errOut)
	}
	if copies, _ := m.copiesChunks(); copies {
		return m.runRewrite(ctx, out, errOut)
	}
	return m.runBatches(ctx, out, errOut)
}

// runBatches is run with every column decoded.
func (m *masking) runBatches(ctx context.Context, out, errOut io.Writer) error {
	start := time.Now()
	reader, err := await(ctx, func() (tablefile.Reader, error) { return tablefile.Open(ctx, m.in, m.read) })
	if err != nil {
		return err
	}
	p, err := m.newPlan(reader.Schema())
	if err != nil {
		return err
	}
	if !m.quiet {
		p.warn(errOut)
	}
	m.write.Like = reader.Style()
	writer, err := tablefile.Create(m.output, p.masks.Schema(), m.write)
	if err != nil {
		return err
	}
	defer writer.Abort() // nothing after Commit

	bar, err := newProgress(m.progress, errOut, reader.NumRows())
	if err != nil {
		return err
	}
	err = pipeline(ctx, m.threads, reader.Next, p.apply, func(batch arrow.RecordBatch) error {
		if batch.NumRows() == 0 {
			return nil // a filter left none
		}
		if err := writer.Write(batch); err != nil {
			return err
		}
		m.rows += batch.NumRows()
		bar.add(batch.NumRows())
		return nil
	})
	bar.finish(err == nil)
	if err != nil {
		return err // the reader may still be at work: see pipeline
	}
	if err := reader.Close(); err != nil {
		return err
	}
	took := time.Since(start)
	// What is not on record is not handed out.
	if err := m.log.write(m.auditRecord(nil)); err != nil {
		return err
	}
	if err := m.publish(writer, m.newReport(p, took), out); err != nil {
		return err
	}
	m.summarize(errOut, p, took)
	return nil
}

// summarize prints the one line of a run that is done.
func (m *masking) summarize(errOut io.Writer, p *plan, took time.Duration) {
	if !m.quiet {
		left := ""
		if p.policies != nil {
			left = fmt.Sprintf(" of %d", p.rowsRead.Load())
		}
		fmt.Fprintf(errOut, "arrowmask: %d%s rows, %d of %d columns masked, %.0f rows/s: %s\n",
			m.rows, left, len(p.masked), p.in.NumFields(), rate(m.rows, took), m.output)
	}
}

// options are those of every mask; the policies have dialects of their own.
func (m *masking) options() arrowudf.Options {
	return arrowudf.Options{Dialect: m.dialect, Keys: m.ring, Mem: m.mem}
}

// newPlan decides by --set or by the policies.
func (m *masking) newPlan(schema *arrow.Schema) (*plan, error) {
	if m.asked == nil {
		return newPlan(schema, m.sets, m.options())
	}
	var err error
	m.made, err = m.asked.plan(schema, m.options())
	return m.made, err
}

// publish makes the output and the report appear, in this order, when both are
// complete.
func (m *masking) publish(writer interface{ Commit() error }, r *report, out io.Writer) error {
	if m.report == "" || m.report == "-" {
		if err := writer.Commit(); err != nil || m.report == "" {
			return err
		}
		return r.encode(out)
	}
	staged, err := stageReport(m.report, r)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := writer.Commit(); err != nil {
		staged.discard()
		return err
	}
	return staged.publish()
}

// await gives up waiting for f, not f itself, when the context ends: opening a
// pipe may wait for ever.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := f()
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.v, a.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// warn prints each note once, with the columns that it concerns.
func (p *plan) warn(w io.Writer) {
	var notes []string
	columns := make(map[string][]string)
	for _, c := range p.masked {
		for _, n := range c.notes {
			if columns[n] == nil {
				notes = append(notes, n)
			}
			columns[n] = append(columns[n], showText(c.name))
		}
	}
	if p.policies != nil {
		p.policies.warn(w)
	}
	for _, n := range notes {
		fmt.Fprintf(w, "arrowmask: warning: %s: %s\n", strings.Join(columns[n], ", "), n)
	}
}
