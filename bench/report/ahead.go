package report

import (
	"slices"

	"github.com/arrowmask/arrowmask/bench/result"
)

// notRivals are sides that are arrowmask too, by another of its ways, or that do
// less than the cell asks for, so that they show a cost and not a competitor.
var notRivals = []string{"arrowmask-python", "cached", "evaluate", "id", "identity", "kernels", "lookup", "no-policy", "per-column", "plan-id"}

// ahead is every record of a rival that took less than arrowmask.
func (r Run) ahead() []result.Record {
	var found []result.Record
	for _, rec := range r.Records {
		if rec.Ratio > 0 && rec.Ratio < 1 && !slices.Contains(notRivals, rec.Side) {
			found = append(found, rec)
		}
	}
	return found
}
