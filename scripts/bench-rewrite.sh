#!/usr/bin/env bash
# Compares masking a Parquet file with DuckDB, in turns on one machine. Needs the
# virtual environment of scripts/interop, which it makes when it is not there.
# BENCH_ROWS, BENCH_ROUNDS, BENCH_OUT (JSON records are appended to it) and
# BENCH_INPUT (the file to mask, made and kept) say the same as the options.
# usage: scripts/bench-rewrite.sh BIN [--rows N] [--rounds N] [--threads N...] [--cases NAME...] [--job ROWS ROUNDS NAME...] [--out FILE] [--input FILE]
set -euo pipefail
bin=$(realpath "$1")
shift
here=$(cd "$(dirname "$0")" && pwd)
venv=${INTEROP_VENV:-$here/../.venv/interop}

if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv" || { echo "NOT RUN: python3 cannot make a virtual environment"; exit 1; }
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/interop/requirements.txt" numpy || {
  echo "NOT RUN: duckdb, pyarrow or numpy could not be installed from the Python package index"
  exit 1
}
exec "$venv/bin/python" "$here/bench-rewrite.py" "$bin" "$@"
