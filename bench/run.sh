#!/usr/bin/env bash
# Measures everything, writes bench/out and draws the report: see README.md. With
# a command it does that alone. The suites install what they can of what their
# rivals need, and name what they could not.
# usage: bench/run.sh [COMMAND [FLAG...]]
set -euo pipefail
cd "$(dirname "$0")"
command -v go >/dev/null || { echo "NOT RUN: Go is not installed"; exit 1; }
# Built first, so that the compiler's work is not in the way of the figures.
go build -o out/bin/bench .
[ $# -eq 0 ] || exec out/bin/bench "$@"
status=0
out/bin/bench all || status=$?
out/bin/bench report || status=$?
exit $status
