#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (default 5s) each.
set -euo pipefail
cd "$(dirname "$0")/.."
fuzztime=${FUZZTIME:-5s}
count=0
while IFS=: read -r file name; do
  count=$((count + 1))
  echo "fuzz $(dirname "$file") $name $fuzztime"
  go test -run '^$' -fuzz "^$name\$" -fuzztime "$fuzztime" "./$(dirname "$file")"
done < <(git grep -oE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | sed -E 's/:func /:/')
[ "$count" -gt 0 ] || { echo "no fuzz targets found"; exit 1; }
echo "$count fuzz targets, no failure"
