#!/usr/bin/env bash
# Measures everything and writes bench/out and bench/report: see README.md.
# Installs what it can of what the rivals need, and names what it could not.
# usage: bench/run.sh [COMMAND [FLAG...]]   (default: all)
set -euo pipefail
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- all

command -v go >/dev/null || { echo "NOT RUN: Go is not installed"; exit 1; }

# have PROGRAM PACKAGE: installs a Debian package for a program that is missing.
have() {
  command -v "$1" >/dev/null && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && apt-get install -y -qq "$2"; } >/dev/null 2>&1 || true
  fi
  command -v "$1" >/dev/null || { echo "NOT INSTALLED: $1 (Debian package $2)"; return 1; }
}

# DuckDB in Go is linked through cgo; without a C++ compiler it is left out, and
# the run says so.
tags=
if have g++ g++ && [ "$(go env CGO_ENABLED)" = 1 ]; then
  tags=duckdb_arrow
fi

mkdir -p out/bin
# The figures are not of a build that shares the processor with the compiler.
go build -tags "$tags" -o out/bin/bench .

exec out/bin/bench "$@"
