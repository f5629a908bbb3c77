#!/usr/bin/env bash
# Builds the Python wheel with the library inside: out/arrowmask-*.whl.
# Needs Go, a C compiler and Python 3.9 or newer. usage: scripts/wheel.sh [OUTDIR]
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-out}
library=$(scripts/capi.sh "$out" | tail -1)
ARROWMASK_LIBRARY=$(realpath "$library")
export ARROWMASK_LIBRARY
rm -f "$out"/arrowmask-*.whl
target=$(realpath "$out")
name=$(cd python && "${PYTHON:-python3}" -c 'import sys, build_backend; print(build_backend.build_wheel(sys.argv[1]))' "$target")
echo "$out/$name"
