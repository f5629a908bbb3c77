#!/usr/bin/env bash
# Measures everything and writes bench/out and bench/report: see README.md.
# The suites install what they can of what their rivals need, and name what they
# could not. usage: bench/run.sh [COMMAND [FLAG...]]   (default: all)
set -euo pipefail
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- all
command -v go >/dev/null || { echo "NOT RUN: Go is not installed"; exit 1; }
# Built first, so that the compiler's work is not in the way of the figures.
go build -o out/bin/bench .
exec out/bin/bench "$@"
