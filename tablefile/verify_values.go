package tablefile

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// compareRows compares the rows of two tables of some columns. It gives, by column, the first difference, and an error when one has more rows or
// cannot be read. Of want all rows are read in any case.
func compareRows(ctx context.Context, want, got *cursor, columns int) (diffs []error, err error) {
	defer want.free()
	defer got.free()
	defer want.drain(ctx)
	diffs = make([]error, columns)
	for row := int64(0); ; {
		more, err := want.fill(ctx)
		if err != nil {
			return diffs, err
		}
		more2, err := got.fill(ctx)
		if err != nil {
			return diffs, err
		}
		if !more && !more2 {
			return diffs, nil
		}
		if more != more2 {
			return diffs, fmt.Errorf("%w: one of them ends after row %d", ErrDiffers, row)
		}
		n := min(want.left(), got.left())
		a, b := want.take(n), got.take(n)
		for i := range diffs {
			if diffs[i] == nil {
				diffs[i] = difference(ctx, a[i], b[i], row)
			}
			a[i].Release()
			b[i].Release()
		}
		row += n
	}
}

func isDifference(err error) bool { return errors.Is(err, ErrDiffers) }

// difference says how two arrays differ; nil when they do not. The first has row number before, from 0.
func difference(ctx context.Context, want, got arrow.Array, before int64) error {
	want, err := fitted(ctx, want, got)
	if err != nil {
		return err
	}
	defer want.Release()
	if sameValues(want, got) {
		return nil
	}
	for i := range int64(want.Len()) {
		a, b := array.NewSlice(want, i, i+1), array.NewSlice(got, i, i+1)
		same := sameValues(a, b)
		a.Release()
		b.Release()
		if !same {
			return fmt.Errorf("%w: in row %d", ErrDiffers, before+i+1)
		}
	}
	return fmt.Errorf("%w: in rows %d to %d", ErrDiffers, before+1, before+int64(want.Len()))
}

// sameValues compares arrays of one type, or of which one has the type null. NaNs are equal.
func sameValues(a, b arrow.Array) bool {
	if a.DataType().ID() == arrow.NULL || b.DataType().ID() == arrow.NULL {
		return allNull(a) && allNull(b)
	}
	return array.ApproxEqual(a, b, array.WithNaNsEqual(true), array.WithAbsTolerance(0))
}

func allNull(a arrow.Array) bool { return a.DataType().ID() == arrow.NULL || a.NullN() == a.Len() }

// fitted is want in the type of got, where formats lack a type and files hold another instead: dates, and times in other units. The caller
// releases it.
func fitted(ctx context.Context, want, got arrow.Array) (arrow.Array, error) {
	from, to := want.DataType(), got.DataType()
	if arrow.TypeEqual(from, to) || from.ID() == arrow.NULL || to.ID() == arrow.NULL {
		want.Retain()
		return want, nil
	}
	kind := func(t arrow.DataType) int {
		switch t.ID() {
		case arrow.DATE32, arrow.DATE64:
			return 1
		case arrow.TIME32, arrow.TIME64:
			return 2
		case arrow.TIMESTAMP:
			return 3
		}
		return 0
	}
	if kind(from) != 0 && kind(from) == kind(to) {
		if cast, err := compute.CastArray(ctx, want, compute.SafeCastOptions(to)); err == nil {
			return cast, nil
		}
	}
	return nil, fmt.Errorf("%w: its type is %s where it must be %s", ErrDiffers, to, from)
}

// cursor reads the rows of a table in parts of any length, without dictionaries, runs and views, which the other file need not have.
type cursor struct {
	r Reader
	// change makes of a batch the columns that are compared; nil: its own. The caller releases them.
	change func(context.Context, arrow.RecordBatch) ([]arrow.Array, error)
	now    []arrow.Array
	rows   int64 // of now
	from   int64
}

func (c *cursor) left() int64 { return c.rows - c.from }

// fill makes sure that there are rows; it says false at the end.
func (c *cursor) fill(ctx context.Context) (bool, error) {
	for c.left() == 0 {
		c.free()
		changed, err := c.next(ctx)
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		for i, a := range changed {
			plain, err := plainArray(ctx, a)
			if err != nil {
				releaseAll(changed[i:])
				return false, err
			}
			a.Release()
			c.now = append(c.now, plain)
			c.rows = int64(plain.Len())
		}
	}
	return true, nil
}

func (c *cursor) next(ctx context.Context) ([]arrow.Array, error) {
	batch, err := c.r.Next()
	if err != nil {
		return nil, err
	}
	defer batch.Release()
	if c.change == nil {
		return retained(batch.Columns()), nil
	}
	return c.change(ctx, batch)
}

func (c *cursor) take(n int64) []arrow.Array {
	parts := make([]arrow.Array, len(c.now))
	for i, a := range c.now {
		parts[i] = array.NewSlice(a, c.from, c.from+n)
	}
	c.from += n
	return parts
}

// drain reads to the end.
func (c *cursor) drain(ctx context.Context) {
	for {
		changed, err := c.next(ctx)
		if err != nil {
			return
		}
		releaseAll(changed)
	}
}

func (c *cursor) free() {
	releaseAll(c.now)
	c.now, c.rows, c.from = nil, 0, 0
}

func retained(all []arrow.Array) []arrow.Array {
	out := make([]arrow.Array, len(all))
	for i, a := range all {
		a.Retain()
		out[i] = a
	}
	return out
}

func releaseAll(all []arrow.Array) {
	for _, a := range all {
		a.Release()
	}
}

// eachBatch calls do for every batch that is left.
func eachBatch(ctx context.Context, r Reader, do func(arrow.RecordBatch) error) error {
	for {
		batch, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		err = do(batch)
		batch.Release()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// plainArray is an array without dictionary, runs, views, extension type and 64-bit offsets, save inside nested ones.
func plainArray(ctx context.Context, a arrow.Array) (arrow.Array, error) {
	switch t := a.(type) {
	case *array.Dictionary:
		dense, err := compute.TakeArray(ctx, t.Dictionary(), t.Indices())
		if err != nil {
			return nil, wrap(ErrUnsupported, "comparing", err)
		}
		defer dense.Release()
		return plainArray(ctx, dense)
	case *array.RunEndEncoded:
		rows := array.NewInt32Builder(memory.DefaultAllocator)
		defer rows.Release()
		for i := range t.Len() {
			rows.Append(int32(t.GetPhysicalIndex(i)))
		}
		at := rows.NewArray()
		defer at.Release()
		dense, err := compute.TakeArray(ctx, t.Values(), at)
		if err != nil {
			return nil, wrap(ErrUnsupported, "comparing", err)
		}
		defer dense.Release()
		return plainArray(ctx, dense)
	case *array.StringView:
		return copyViews(t, arrow.BinaryTypes.String)
	case *array.BinaryView:
		return copyViews(t, arrow.BinaryTypes.Binary)
	case array.ExtensionArray:
		return plainArray(ctx, t.Storage())
	case *array.LargeString, *array.LargeBinary:
		to := arrow.BinaryTypes.Binary
		if a.DataType().ID() == arrow.LARGE_STRING {
			to = arrow.BinaryTypes.String
		}
		return compute.CastArray(ctx, a, compute.SafeCastOptions(to))
	}
	a.Retain()
	return a, nil
}
