#!/usr/bin/env bash
# Times sha2(x, 256) in DuckDB: its own, ours in both ways, and functions that do
# nothing. Takes what scripts/engines/run.sh has built and installed.
# usage: scripts/engines/bench-duckdb.sh [ROWS [ROUNDS [THREADS]]]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
venv=${ENGINES_VENV:-$root/.venv/engines}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$venv/bin/python" -c 'import arrowmask, duckdb' || { echo "NOT RUN: no arrowmask and duckdb in $venv: run make test-engines first"; exit 1; }
command -v "${CC:-cc}" >/dev/null || { echo "NOT RUN: no C compiler (${CC:-cc})"; exit 1; }
${CC:-cc} -O2 -Wall -Wextra -Werror -shared -fPIC -I"$root/arrowudf/capi" "$root/scripts/engines/duckdb/floor.c" -o "$work/floor.duckdb_extension"
"$root/scripts/capi-duckdb-footer.sh" "$work/floor.duckdb_extension" floor v1.5.6
"$venv/bin/python" "$root/scripts/engines/duckdb/bench.py" "$work/floor.duckdb_extension" "$@"
