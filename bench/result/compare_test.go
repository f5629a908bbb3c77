package result

import (
	"bytes"
	"testing"
)

func ratio(side string, x float64) Record {
	r := of("s", side)
	r.Ratio = x
	return r
}

func TestCompare(t *testing.T) {
	a := []Record{ratio("same", 2), ratio("near", 2), ratio("more", 2), ratio("less", 2), ratio("gone", 2), of("s", Ours)}
	b := []Record{ratio("less", 1.5), ratio("more", 2.4), ratio("same", 2), ratio("near", 2.2), ratio("new", 2), of("s", Ours), of("s", "gone")}
	c := Compare(a, b, 0.15)
	var out bytes.Buffer
	if err := c.Print(&out); err != nil {
		t.Fatal(err)
	}
	want := `differs suite=s side=more ratio=2.00,2.40 by=20% ratio_median=0,0
differs suite=s side=less ratio=2.00,1.50 by=33% ratio_median=0,0
only in run 1: suite=s side=gone ratio=2.00
only in run 2: suite=s side=new ratio=2.00
ratios=4 differ=2 worst=33% only=1,1
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	if c := Compare(a, a, 0); len(c.Differences)+len(c.OnlyA)+len(c.OnlyB) != 0 || c.Ratios != 5 || c.Worst != 0 {
		t.Errorf("a run differs from itself: %+v", c)
	}
}
