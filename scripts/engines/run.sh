#!/usr/bin/env bash
# Builds the C library and the Python wheel, and runs them in every engine: the C
# driver under AddressSanitizer, a JVM, pyarrow, Polars, DuckDB, DataFusion and
# Spark (a local cluster of two executors), an embedded DuckDB in Go, and the recipes
# of the documentation.
# Installs what it needs by pip into a virtual environment, says what could not be
# had, and fails when fewer than four engines ran.
# usage: scripts/engines/run.sh BIN [OUTDIR]
set -euo pipefail
bin=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/scripts/engines
out=${2:-$root/out}
venv=${ENGINES_VENV:-$root/.venv/engines}
calls=${CAPI_CALLS:-10000}
failed=0

command -v python3 >/dev/null || { echo "NOT RUN: python3 is not installed"; exit 1; }
[ -x "$venv/bin/python" ] || python3 -m venv "$venv" || { echo "NOT RUN: python3 cannot make a virtual environment"; exit 1; }
while read -r package; do
  case $package in '' | '#'*) continue ;; esac
  "$venv/bin/pip" install --quiet --disable-pip-version-check "$package" || echo "NOT INSTALLED: $package"
done <"$here/requirements.txt"

mkdir -p "$out"
PYTHON=$venv/bin/python "$root/scripts/wheel.sh" "$out"
"$venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$out"/arrowmask-*.whl
# The wheel is what is tested: nothing from the source tree.
unset ARROWMASK_LIBRARY PYTHONPATH
# Spark's driver and executors listen on loopback only.
export SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_HOSTNAME=localhost

echo "=== C driver"
"$here/capi-test.sh" "$out" "$calls" || failed=1
echo "=== JVM"
"$here/jvm-test.sh" "$out" || failed=1
echo "=== python -m arrowmask"
"$venv/bin/python" -m arrowmask --selftest | tail -1 || failed=1
echo "=== package"
"$venv/bin/python" "$root/python/tests/test_package.py" || failed=1
echo "=== DuckDB extension"
if "$venv/bin/python" -c 'import duckdb'; then
  "$venv/bin/python" -W ignore "$root/python/tests/test_duckdb.py" || failed=1
else
  echo "NOT RUN: duckdb is not installed"
fi
echo "=== engines"
ran=$(mktemp)
trap 'rm -f "$ran"' EXIT
ARROWMASK_BIN=$bin ARROWMASK_ENGINES_RAN=$ran "$venv/bin/python" -W ignore "$root/python/tests/test_engines.py" || failed=1
echo "=== DuckDB from Go"
(cd "$root/examples/duckdb" && go vet -tags duckdb_arrow . && ARROWMASK_EXTENSION=$(realpath "$out")/arrowmask.duckdb_extension go test -tags duckdb_arrow -count=1 . | tail -2) || failed=1
echo "=== recipes"
"$venv/bin/python" -W ignore "$here/recipes.py" "$root" || failed=1

count=$(sort -u "$ran" | wc -l)
echo "=== $count of 5 engines ran: $(sort -u "$ran" | paste -sd, -)"
[ "$count" -ge 4 ] || failed=1
exit $failed
