#!/usr/bin/env bash
# Makes a shared library a DuckDB extension: DuckDB reads what it is from its last
# 512 bytes, eight fields of 32, the last field first, and a signature, which we do
# not have. usage: scripts/capi-duckdb-footer.sh LIBRARY VERSION LEAST_INTERFACE
set -euo pipefail
field() { printf '%s' "$1" && head -c $((32 - ${#1})) /dev/zero; }
os=$(go env GOOS)
[ "$os" != darwin ] || os=osx
{
  field '' && field '' && field ''
  field C_STRUCT    # the kind of interface
  field "${2:0:31}" # of the extension
  field "$3"        # of the interface: a DuckDB that has it, or a later one
  field "${os}_$(go env GOARCH)"
  field 4 # says that this is such a footer
  head -c 256 /dev/zero
} >>"$1"
