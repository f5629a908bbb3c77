// Package katdata holds the known-answer vectors, so that a program can carry
// them. README.md beside this file describes their format and origin.
package katdata

import "embed"

// FS holds the vector files, one folder an algorithm or function.
//
//go:embed */*.tsv
var FS embed.FS
