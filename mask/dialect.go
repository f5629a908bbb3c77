package mask

import (
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/arrowmask/arrowmask/kernels"
)

// rules are what sets one dialect apart from another, as data. Compile reads
// them once; nothing asks for the dialect while rows are worked on.
type rules struct {
	name string

	// Characters. The unit is the code point; a byte that is not part of
	// valid UTF-8 is one character of the class lower.
	classes func() *classTable
	rep     [numClasses]rune // default replacement by class, or keep

	// Defaults of the other parameters of the mask family.
	n      int64
	number int64
	date   dateRule

	// Digests.
	sha2     map[int64]kernels.Alg // by bit length; any other length gives NULL
	maskHash kernels.Alg
}

// keep, as a replacement, leaves the character or the part of a date as it is.
const keep = -1

// safe is Hive's signatures and defaults with its leaks closed: letters of
// every script, numbers of every kind and combining marks are masked. On ASCII
// it equals Hive.
var safe = rules{
	name: "safe",
	classes: sync.OnceValue(func() *classTable {
		return newClassTable([numClasses][]*unicode.RangeTable{
			classUpper: {unicode.Lu, unicode.Lt},
			classLower: {unicode.Ll, unicode.Lm, unicode.Lo, unicode.Mn, unicode.Mc, unicode.Me},
			classDigit: {unicode.Nd, unicode.Nl, unicode.No},
		})
	}),
	rep:    [numClasses]rune{classUpper: 'X', classLower: 'x', classDigit: 'n', classOther: keep},
	n:      4,
	number: 1,
	date:   dateRule{day: 1, month: 1, year: 0},
	sha2: map[int64]kernels.Alg{
		0: kernels.SHA256, 224: kernels.SHA224, 256: kernels.SHA256, 384: kernels.SHA384, 512: kernels.SHA512,
	},
	maskHash: kernels.SHA256,
}

// dialects are those that can be chosen; the first is the default.
var dialects = []*rules{&safe}

// Dialects lists the names that Options.Dialect takes, the default first.
func Dialects() []string {
	names := make([]string, len(dialects))
	for i, d := range dialects {
		names[i] = d.name
	}
	return names
}

// dialect finds the rules by name; "" is the default.
func dialect(name string) (*rules, error) {
	if name == "" {
		return dialects[0], nil
	}
	for _, d := range dialects {
		if d.name == strings.ToLower(name) {
			return d, nil
		}
	}
	return nil, fmt.Errorf("%w: %q (one of: %s)", ErrDialect, name, strings.Join(Dialects(), ", "))
}
