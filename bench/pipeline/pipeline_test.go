package pipeline

import (
	"slices"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	got := strings.Join(arguments("bin", "file", 0), " ")
	if want := "bin --out file --job 200000 3 0 1 8-values --job 200000 2 5 10 20 --job 10000000 1 1 10"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	args := arguments("bin", "file", 7)
	for i, arg := range args {
		if arg == "--job" && args[i+2] != "7" {
			t.Errorf("%s rounds of %s rows, asked for 7", args[i+2], args[i+1])
		}
	}
	// The issue that the suite answers: 1 and 10 columns of 10 million rows.
	if i := slices.Index(args, "10000000"); i < 0 || !slices.Contains(args[i:], "1") || !slices.Contains(args[i:], "10") {
		t.Errorf("the large file is not masked as it should be: %v", args)
	}
}
