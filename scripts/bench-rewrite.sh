#!/usr/bin/env bash
# Compares masking a Parquet file with DuckDB, in turns on one machine. Needs the
# virtual environment of scripts/interop, which it makes when it is not there.
# usage: scripts/bench-rewrite.sh BIN [--rows N] [--threads N...] [--rounds N] [--cases NAME...]
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
