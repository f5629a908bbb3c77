//go:build !cgo

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "this is a C library: build it with CGO_ENABLED=1, a C compiler and -buildmode=c-shared (scripts/capi.sh)")
	os.Exit(2)
}
