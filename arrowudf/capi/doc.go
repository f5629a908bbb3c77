// Command capi is the C interface of arrowmask: built with
//
//	go build -buildmode=c-shared -o libarrowmask.so ./arrowudf/capi
//
// (scripts/capi.sh does that, and puts arrowmask.h beside it) it is a shared
// library for engines and languages that speak the Arrow C Data Interface.
// arrowmask.h documents every function.
//
// Package cdata reads and writes the structures; this package has the handles,
// the errors and the way across. The functions that C sees are written in C
// (capi.c) so that the compiler holds them against arrowmask.h; each calls one
// exported Go function of exports*.go.
//
// The same file is a DuckDB extension (duckdb.c, duckdb.go): scripts/capi.sh puts
// it under that name beside the library.
package main
