package main

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// writeTable prints rows in columns as wide as their widest cell, measured as
// a terminal shows it. The first row is the heading.
func writeTable(w io.Writer, rows [][]string) error {
	var widths []int
	for _, r := range rows {
		for i, cell := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
		}
	}
	b := bufio.NewWriter(w)
	for _, r := range rows {
		for i, cell := range r {
			b.WriteString(cell)
			if i < len(r)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-uniseg.StringWidth(cell)+2))
			}
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

// showText is a text cell for a terminal: as it is when nothing in it could be
// taken for something else or drive the terminal, else quoted.
func showText(s string) string {
	plain := s != "" && s != "NULL" && strings.TrimSpace(s) == s && !strings.HasPrefix(s, `"`)
	if plain && !strings.ContainsFunc(s, func(r rune) bool { return r == unicode.ReplacementChar || !printable(r) }) {
		return s
	}
	return strconv.QuoteToGraphic(s)
}

// printable admits the joiners that scripts need and no other control.
func printable(r rune) bool { return unicode.IsGraphic(r) || r == '\u200c' || r == '\u200d' }

// maxCell is how many columns of a terminal a clear cell takes at most.
const maxCell = 48

// shorten cuts a cell to maxCell, at a boundary between characters as people
// see them.
func shorten(s string) string {
	if uniseg.StringWidth(s) <= maxCell {
		return s
	}
	var b strings.Builder
	width, state := 0, -1
	for s != "" {
		var cluster string
		var w int
		cluster, s, w, state = uniseg.FirstGraphemeClusterInString(s, state)
		if width += w; width > maxCell-1 {
			break
		}
		b.WriteString(cluster)
	}
	return b.String() + "…"
}
