#!/usr/bin/env bash
# Runs the portable packages' tests on processors that this machine is not,
# under QEMU: arm64, and x86-64 models that lack some of the extensions that
# the backends ask for. Correctness only; emulated time means nothing.
set -uo pipefail
cd "$(dirname "$0")/.."

if ! command -v qemu-aarch64-static >/dev/null || ! command -v qemu-x86_64-static >/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -y -qq qemu-user-static >/dev/null
  fi
fi
command -v qemu-aarch64-static >/dev/null && command -v qemu-x86_64-static >/dev/null || {
  echo "NOT RUN: qemu-user-static is not installed and could not be"
  exit 1
}

# These tests start the test binary again, which would leave the emulation.
leave_out='^(TestOverrideInProcess|TestB14FIPSModes)$'

failed=0
# emulate NAME GOARCH QEMU... -- PACKAGE...
emulate() {
  local name=$1 arch=$2 runner=() packages=()
  shift 2
  while [ "$1" != -- ]; do runner+=("$1"); shift; done
  shift
  packages=("$@")
  echo "=== $name"
  local package out
  for package in "${packages[@]}"; do
    out=$(mktemp)
    # A test binary runs in its package's folder, as go test runs it.
    if GOARCH=$arch CGO_ENABLED=0 go test -c -o "$out" "./$package" &&
      (cd "$package" && "${runner[@]}" "$out" -test.short -test.skip "$leave_out" -test.timeout 8m); then
      echo "ok   $name $package"
    else
      echo "FAIL $name $package"
      failed=1
    fi
    rm -f "$out"
  done
}

emulate arm64 arm64 qemu-aarch64-static -cpu max -- kernels hexenc internal/asciimask internal/blake2b
# No AVX, no SHA instructions; AVX2 without BMI2; SHA instructions and AVX2.
emulate x86-nehalem amd64 qemu-x86_64-static -cpu Nehalem -- kernels hexenc internal/asciimask internal/blake2b
emulate x86-haswell-no-bmi2 amd64 qemu-x86_64-static -cpu Haswell,-bmi2 -- kernels hexenc internal/asciimask internal/blake2b
emulate x86-epyc amd64 qemu-x86_64-static -cpu EPYC -- kernels
exit $failed
