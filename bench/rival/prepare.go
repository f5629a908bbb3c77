package rival

import (
	"cmp"
	"os/exec"
	"strings"
)

// Prepare runs a command that builds or installs something, and returns the last
// line that it writes: what was made, or why it could not be.
func Prepare(cmd *exec.Cmd) (made, why string) {
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	last := lines[len(lines)-1]
	if err != nil {
		return "", cmp.Or(last, err.Error())
	}
	return last, ""
}
