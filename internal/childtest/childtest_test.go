package childtest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const child = "ARROWMASK_CHILDTEST"

func TestRun(t *testing.T) {
	if what := os.Getenv(child); what != "" {
		fmt.Println("this is", what)
		return
	}
	if out := Run(t, "TestRun", child+"=the child"); !strings.Contains(out, "this is the child\n") {
		t.Error(out)
	}
}

// TestRunFails: a child that fails, is skipped or does not exist is an error.
func TestRunFails(t *testing.T) {
	switch os.Getenv(child) {
	case "fail":
		t.Fatal("made up")
	case "skip":
		t.Skip("made up")
	}
	for _, what := range []string{"fail", "skip"} {
		if out, err := run("TestRunFails", []string{child + "=" + what}); err == nil || !strings.Contains(out, "made up") {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
	if out, err := run("TestNoSuchTest", nil); err == nil {
		t.Error(out)
	}
}
