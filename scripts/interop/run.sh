#!/usr/bin/env bash
# Installs pyarrow and polars into a virtual environment and checks that they
# read what arrowmask writes and that arrowmask reads what they write.
# usage: scripts/interop/run.sh BIN
set -euo pipefail
bin=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
venv=${INTEROP_VENV:-$here/../../.venv/interop}

command -v python3 >/dev/null || { echo "NOT RUN: python3 is not installed"; exit 1; }
if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv" || { echo "NOT RUN: python3 cannot make a virtual environment"; exit 1; }
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt" || {
  echo "NOT RUN: pyarrow or polars could not be installed from the Python package index"
  exit 1
}
exec "$venv/bin/python" "$here/check.py" "$bin"
