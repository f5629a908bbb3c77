#!/bin/sh
# Masks the sample customers and shows them before and after, the speed and the
# report. Usage: scripts/demo.sh [ARROWMASK]; without an argument it builds one.
set -eu

cd "$(dirname "$0")/.."
bin=${1:-}
if [ -z "$bin" ]; then
	bin=bin/arrowmask
	"${GO:-go}" build -o "$bin" ./cmd/arrowmask
fi
in=testdata/samples/customers.parquet
out=out/customers.masked.parquet
report=out/customers.report.json
mkdir -p out

set -- \
	--set 'name=mask({col})' \
	--set 'email=mask_hash({col})' \
	--set 'phone=mask_show_first_n({col}, 3)' \
	--set 'card=mask_show_last_n({col}, 4)' \
	--set 'birth_date=mask({col}, -1, -1, -1, -1, 1, 1, 0, -1)' \
	--set 'note=mask_null({col})'

echo "== before and after: the first rows of $in"
"$bin" explain "$in" "$@" --sample 3
echo
echo "== masking"
"$bin" mask "$in" -o "$out" --overwrite --report "$report" "$@"
echo
echo "== report: $report"
cat "$report"

echo
policies=testdata/samples/customers-policies.json
echo "== two users, one policy file: $policies"
for who in "ann --group analysts" "sam --group support --attr country=Germany"; do
	user=${who%% *}
	echo "-- $user sees"
	# shellcheck disable=SC2086 # the flags are words
	"$bin" mask "$in" -o "out/customers.$user.csv" --overwrite -q --policy "$policies" --resource shop.customers --user $who
	head -n 4 "out/customers.$user.csv"
done
