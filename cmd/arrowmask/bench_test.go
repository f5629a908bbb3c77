package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

func TestBench(t *testing.T) {
	var out, errs bytes.Buffer
	args := []string{"bench", "--alg", "sha256,md5", "--len", "8,mixed", "--rows", "64", "--rounds", "1", "--sample", "1ms"}
	if code := run(args, streams{in: strings.NewReader(""), out: &out, err: &errs}); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	line := regexp.MustCompile(`(?m)^alg=(sha256|md5) out=hex len=(8|10-40) rows=64 threads=1 backend=\w+ ns_row=[\d.]+ std_ns_row=[\d.]+ ratio=[\d.]+ ratio_min=[\d.]+$`)
	if got := len(line.FindAllString(out.String(), -1)); got != 4 {
		t.Errorf("%d lines of 4 in\n%s", got, out.String())
	}
}

func TestBenchUsage(t *testing.T) {
	for _, flags := range [][]string{{"--alg", "crc32"}, {"--len", "-1"}, {"--len", "long"}, {"--rows", "0"}, {"--rounds", "0"}, {"--sample", "0"}, {"--all", "--alg", "md5"}, {"--all", "--grid"}, {"--grid", "--len", "8"}, {"--grid", "--threads", "2"}} {
		var errs bytes.Buffer
		if code := run(append([]string{"bench"}, flags...), streams{in: strings.NewReader(""), out: &errs, err: &errs}); code != 2 {
			t.Errorf("bench %v: exit %d, want 2: %s", flags, code, errs.String())
		}
	}
}
