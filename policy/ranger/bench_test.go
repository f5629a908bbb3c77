package ranger

import (
	"fmt"
	"testing"
	"time"

	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
)

// manyPolicies is n mask policies, one in a hundred of them by pattern; table
// t of db has every tenth column masked by a policy of its own.
func manyPolicies(t testing.TB, n, columns int) *Rules {
	t.Helper()
	var list []obj
	res := func(db, tab, col string) obj {
		return obj{"catalog": obj{"values": []any{"c"}}, "schema": obj{"values": []any{db}}, "table": obj{"values": []any{tab}}, "column": obj{"values": []any{col}}}
	}
	for i := range n {
		p := maskPolicy(i, "", maskItem("MASK", obj{"users": []any{fmt.Sprint("user", i%10)}}))
		switch {
		case i < columns/10:
			p["resources"] = res("db", "t", fmt.Sprintf("column_%d", i*10))
			p["dataMaskPolicyItems"] = []obj{maskItem("MASK_HASH", nil)}
		case i%100 == 99:
			p["resources"] = res("db", fmt.Sprintf("x%d*", i), "*")
		default:
			p["resources"] = res("db", fmt.Sprintf("table_%d", i), "c")
		}
		list = append(list, p)
	}
	return load(t, list, obj{"serviceType": "trino"}, Options{})
}

func wideTable(t testing.TB, name string, columns int) *policy.Table {
	t.Helper()
	var cols []policy.Column
	for i := range columns {
		cols = append(cols, policy.Column{Name: fmt.Sprintf("column_%d", i), Type: mask.Type{Kind: mask.Text}})
	}
	tab, err := policy.NewTable([]string{"c", "db", name}, "", cols)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// BenchmarkDecide is the cost of deciding anew, for tables with and without
// masks, by the number of policies and of columns.
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		r := manyPolicies(b, n, 1000)
		for _, columns := range []int{1, 10, 250, 1000} {
			for _, name := range []string{"t", "other"} {
				tab := wideTable(b, name, columns)
				b.Run(fmt.Sprintf("policies=%d/columns=%d/table=%s", n, columns, name), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := r.Decide(who("u"), tab, noon); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkPlanTable is a whole plan that is not cached.
func BenchmarkPlanTable(b *testing.B) {
	r := manyPolicies(b, 1000, 250)
	for _, columns := range []int{1, 250} {
		tab := wideTable(b, "t", columns)
		b.Run(fmt.Sprintf("columns=%d", columns), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := policy.NewSnapshot(r).Plan(who("u"), tab, noon); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestWholeTableAtOnce: a table of 250 columns costs far less than 250 tables
// of one; the work is counted by its allocations.
func TestWholeTableAtOnce(t *testing.T) {
	r := manyPolicies(t, 1000, 250)
	allocs := func(columns int) float64 {
		tab := wideTable(t, "t", columns)
		return testing.AllocsPerRun(20, func() {
			if _, err := policy.NewSnapshot(r).Plan(who("u"), tab, noon); err != nil {
				t.Fatal(err)
			}
		})
	}
	one, wide := allocs(1), allocs(250)
	t.Logf("%v allocations for 1 column, %v for 250 of which 25 masked", one, wide)
	if wide > 20*one {
		t.Errorf("%v allocations for 1 column, %v for 250", one, wide)
	}
}

// TestSwapUnderLoad reloads real rules while readers plan: see package policy's
// test for mixed versions; here nothing may fail and every plan must mask.
func TestSwapUnderLoad(t *testing.T) {
	var live policy.Live
	bodies := []*Rules{
		load(t, []obj{maskPolicy(1, "c", maskItem("MASK", nil))}, obj{"policyVersion": 1}, Options{}),
		load(t, []obj{maskPolicy(1, "c", maskItem("MASK_NULL", nil))}, obj{"policyVersion": 2}, Options{}),
	}
	live.Swap(policy.NewSnapshot(bodies[0]))
	tab, done := table(t, "c", "d"), make(chan error)
	stop := make(chan struct{})
	for n := range 8 {
		go func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					done <- nil
					return
				default:
				}
				s, err := live.Snapshot()
				if err == nil {
					var p *policy.Plan
					if p, err = s.Plan(who(fmt.Sprint("u", (n+i)%3)), tab, noon); err == nil && (len(p.Masks) != 1 || p.Version != s.Version()) {
						err = fmt.Errorf("plan %+v of version %s", p, s.Version())
					}
				}
				if err != nil {
					done <- err
					return
				}
			}
		}()
	}
	for i := range 30 {
		time.Sleep(10 * time.Millisecond)
		live.Swap(policy.NewSnapshot(bodies[i%2]))
	}
	close(stop)
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
