package mask

import (
	"fmt"
	"slices"
	"strings"
)

// note adds a warning once.
func (c *compiler) note(text string) {
	if !slices.Contains(c.prog.notes, text) {
		c.prog.notes = append(c.prog.notes, text)
	}
}

// notePlain warns of a digest without a key.
func (c *compiler) notePlain(n *node) {
	if n.set.key == nil {
		c.note(n.name + " has no key: whoever can list the possible values (names, phone or card numbers) can undo it. mask_hmac cannot be undone without its key.")
	}
}

// noteKept warns of classes of characters that were asked to stay.
func (c *compiler) noteKept(n *node) {
	var kept []string
	for cl, name := range [numClasses]string{classUpper: "upper-case letters", classLower: "lower-case and other letters", classDigit: "digits"} {
		if name != "" && n.set.rep[cl] == keep {
			kept = append(kept, name)
		}
	}
	if kept != nil {
		c.note(n.name + " was asked to keep " + strings.Join(kept, ", ") + ": they stay readable.")
	}
}

// noteLeaks warns of what the dialect leaves that the safe one masks. When every
// other character is replaced nothing is left.
func (c *compiler) noteLeaks(n *node) {
	if c.rules.leaks != "" && n.set.rep[classOther] == keep {
		c.note(fmt.Sprintf("In the dialect %s %s leaves %s readable; the dialect safe does not.", c.rules.name, n.name, c.rules.leaks))
	}
}
