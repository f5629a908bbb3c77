package arrowudf

import (
	"context"
	"sync/atomic"
)

// countdown is a context that is cancelled after it was asked a number of
// times.
type countdown struct {
	context.Context
	left  int64
	asked atomic.Int64
}

func (c *countdown) Err() error {
	if c.asked.Add(1) > c.left {
		return context.Canceled
	}
	return nil
}
