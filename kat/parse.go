package kat

import (
	"fmt"
	"strings"
)

// columns is the header line of every vector file.
var columns = []string{"id", "function", "dialect", "mode", "type", "args", "expected", "kind", "source", "note"}

// Parse reads a vector file. Lines that begin with "#" and empty lines carry
// no vector; the first other line is the header. name is what errors and
// reports call the file. The error is a *LineError.
func Parse(name string, data []byte) ([]Vector, error) {
	fail := func(line int, format string, args ...any) ([]Vector, error) {
		return nil, &LineError{File: name, Line: line, Msg: fmt.Sprintf(format, args...)}
	}
	var out []Vector
	header := false
	seen := make(map[string]int)
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		text = strings.TrimRight(text, "\r\n")
		if text == "" || text[0] == '#' {
			continue
		}
		f := strings.Split(text, "\t")
		if len(f) != len(columns) {
			return fail(line, "%d columns instead of %d", len(f), len(columns))
		}
		if !header {
			if text != strings.Join(columns, "\t") {
				return fail(line, "the first line is not the header %s", strings.Join(columns, " "))
			}
			header = true
			continue
		}
		v := Vector{File: name, Line: line, ID: f[0], Function: f[1], Dialect: f[2], Mode: f[3], Type: f[4], Kind: f[7], Source: f[8], Note: f[9]}
		if v.ID == "" || v.Function == "" {
			return fail(line, "no id or no function")
		}
		if first, ok := seen[v.ID]; ok {
			return fail(line, "id %s was used in line %d", v.ID, first)
		}
		seen[v.ID] = line
		if v.Kind != "fact" && v.Kind != "derived" {
			return fail(line, "kind %q is neither fact nor derived", v.Kind)
		}
		var err error
		if v.Args, err = parseTokens(f[5]); err != nil {
			return fail(line, "args: %v", err)
		}
		if v.Expected, err = parseTokens(f[6]); err != nil {
			return fail(line, "expected: %v", err)
		}
		out = append(out, v)
	}
	if !header {
		return fail(max(line, 1), "no header line")
	}
	return out, nil
}

// parseTokens reads a cell of tokens, separated by one space.
func parseTokens(s string) ([]Token, error) {
	var out []Token
	for part := range strings.SplitSeq(s, " ") {
		t, err := parseToken(part)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}
