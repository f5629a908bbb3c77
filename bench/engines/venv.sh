#!/usr/bin/env bash
# Makes a virtual environment with the engines, by pip, and the C library that the
# arrowmask package loads. What could not be installed is named; the sides that
# need it are skipped. The last line is the Python to use, or why there is none.
# usage: venv.sh VENV LIBDIR
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
venv=$1
lib=$2
stamp=$venv/installed

command -v python3 >/dev/null || { echo "python3 is not installed"; exit 1; }
[ -x "$venv/bin/python" ] || python3 -m venv "$venv" || { echo "python3 cannot make a virtual environment"; exit 1; }
if ! cmp -s "$here/requirements.txt" "$stamp"; then
  missing=0
  while read -r package; do
    case $package in '' | '#'*) continue ;; esac
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$package" || { echo "not installed: $package"; missing=1; }
  done <"$here/requirements.txt"
  [ $missing = 1 ] || cp "$here/requirements.txt" "$stamp"
fi
"$here/../../scripts/capi.sh" "$lib" || { echo "the C library does not build"; exit 1; }
echo "$venv/bin/python"
