package overhead

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/arrowmask/arrowmask/bench/result"
	"github.com/arrowmask/arrowmask/policy"
	"github.com/arrowmask/arrowmask/policy/ranger"
)

// identities is ten thousand users of three hundred groups who read a hundred
// tables, five each. Twenty of the groups are named by policies, each in ten
// tables, so the users have few plans between them.
//
//	arrowmask      one snapshot: equal plans are one
//	plan-per-user  a snapshot for each user: no two share anything
const (
	idUsers, idGroups, idTables = 10000, 300, 100
	idReads                     = 5 // tables a user reads
	idNamed                     = 20
	idGroupsOfUser              = 3
)

func identities(b *bench) error {
	d, err := newPopulation()
	if err != nil {
		return err
	}
	type store = func(user int) *policy.Snapshot
	fill := func(of store) (map[*policy.Plan]bool, error) {
		plans := map[*policy.Plan]bool{}
		for u, id := range d.users {
			for _, t := range d.reads[u] {
				p, err := of(u).Plan(id, d.tables[t], d.at)
				if err != nil {
					return nil, err
				}
				plans[p] = true
			}
		}
		return plans, nil
	}
	var shared *policy.Snapshot
	distinct := 0
	_, sharedBytes, err := heap(func() (*policy.Snapshot, error) {
		shared = policy.NewSnapshot(d.rules)
		plans, err := fill(func(int) *policy.Snapshot { return shared })
		distinct = len(plans)
		return shared, err
	})
	if err != nil {
		return err
	}
	own := 0
	each, ownBytes, err := heap(func() ([]*policy.Snapshot, error) {
		all := make([]*policy.Snapshot, idUsers)
		for i := range all {
			all[i] = policy.NewSnapshot(d.rules)
		}
		plans, err := fill(func(u int) *policy.Snapshot { return all[u] })
		own = len(plans)
		return all, err
	})
	if err != nil {
		return err
	}
	// Both answer alike, for some of the users.
	for u := 0; u < idUsers; u += 97 {
		for _, t := range d.reads[u] {
			p, err := shared.Plan(d.users[u], d.tables[t], d.at)
			if err != nil {
				return err
			}
			q, err := each[u].Plan(d.users[u], d.tables[t], d.at)
			if err != nil {
				return err
			}
			one, err := policy.NewSet(p)
			if err != nil {
				return err
			}
			other, err := policy.NewSet(q)
			if err != nil {
				return err
			}
			if one.Hash() != other.Hash() {
				return errPlan
			}
		}
	}
	key := result.Keys("work", "identities", "users", idUsers, "tables", idTables)
	figure := func(name string) []result.Key {
		return append(key[:len(key):len(key)], result.Key{Name: "figure", Value: name})
	}
	if err := b.compared(figure("resident"), "B", value{side: result.Ours, x: sharedBytes}, value{side: "plan-per-user", x: ownBytes}); err != nil {
		return err
	}
	if err := b.compared(figure("plans"), "plans", value{side: result.Ours, x: float64(distinct)}, value{side: "plan-per-user", x: float64(own)}); err != nil {
		return err
	}
	hits, err := d.hitRate()
	if err != nil {
		return err
	}
	if err := b.values(figure("hits"), "%", value{side: result.Ours, x: 100 * hits}); err != nil {
		return err
	}
	// The cache settles: what is asked for often enough is read without a lock.
	for range 2 {
		if _, err := fill(func(int) *policy.Snapshot { return shared }); err != nil {
			return err
		}
	}
	next := 0
	r, err := b.measure(figure("lookup"), "ns",
		way{name: result.Ours, ops: idReads, run: func() error {
			next = (next + 7919) % idUsers
			for _, t := range d.reads[next] {
				if _, err := shared.Plan(d.users[next], d.tables[t], d.at); err != nil {
					return err
				}
			}
			return nil
		}},
		way{name: "evaluate", ops: idReads, run: func() error {
			next = (next + 7919) % idUsers
			for _, t := range d.reads[next] {
				if _, err := d.rules.Decide(d.users[next], d.tables[t], d.at); err != nil {
					return err
				}
			}
			return nil
		}})
	if err != nil {
		return err
	}
	b.table(fmt.Sprintf("%d users of %d groups, %d of %d tables each", idUsers, idGroups, idReads, idTables), []string{"", "shared by content", "a snapshot a user"}, [][]string{
		{"questions", fmt.Sprint(idUsers * idReads), fmt.Sprint(idUsers * idReads)},
		{"distinct plans", fmt.Sprint(distinct), fmt.Sprint(own)},
		{"resident, MB", result.Figure(sharedBytes / 1e6), result.Figure(ownBytes / 1e6)},
		{"answered without a decision, of 200000 questions", fmt.Sprintf("%.1f %%", 100*hits), "-"},
		{"ns a question, warm", result.Figure(r[0].Median), "-"},
		{"ns a question, decided anew", result.Figure(r[1].Median), "-"},
	})
	return nil
}

type population struct {
	rules  *ranger.Rules
	tables []*policy.Table
	users  []*policy.Identity
	reads  [][]int // tables by user
	at     time.Time
}

func newPopulation() (*population, error) {
	d := &population{at: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	rng := random(10)
	var policies []object
	for t := range idTables {
		tab, err := textTable(tableName(t), planColumns)
		if err != nil {
			return nil, err
		}
		d.tables = append(d.tables, tab)
		for k := range 4 {
			group := fmt.Sprintf("g%d", (t/5+k*5)%idNamed)
			policies = append(policies, columnPolicy(len(policies), tableName(t), fmt.Sprintf("c%d", 2*k), object{"dataMaskType": hashMask}, "groups", group))
		}
	}
	for u := range idUsers {
		var groups []string
		for range idGroupsOfUser {
			groups = append(groups, fmt.Sprintf("g%d", rng.IntN(idGroups)))
		}
		d.users = append(d.users, policy.NewIdentity(fmt.Sprintf("user%d", u), groups, nil, nil))
		d.reads = append(d.reads, rng.Perm(idTables)[:idReads])
	}
	var err error
	d.rules, err = loadRules(1, policies)
	return d, err
}

// counting are rules that count how often they decide.
type counting struct {
	policy.Rules
	decided int
}

func (c *counting) Decide(id *policy.Identity, t *policy.Table, at time.Time) (*policy.Decision, error) {
	c.decided++
	return c.Rules.Decide(id, t, at)
}

// hitRate is the share of a stream of questions that the cache answers, from
// users of whom a few ask most.
func (d *population) hitRate() (float64, error) {
	const questions = 200000
	rules := &counting{Rules: d.rules}
	s := policy.NewSnapshot(rules)
	rng := random(11)
	zipf := rand.NewZipf(rng, 1.1, 10, idUsers-1)
	for range questions {
		u := int(zipf.Uint64())
		if _, err := s.Plan(d.users[u], d.tables[d.reads[u][rng.IntN(idReads)]], d.at); err != nil {
			return 0, err
		}
	}
	return 1 - float64(rules.decided)/questions, nil
}
