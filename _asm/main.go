// Command asm writes the amd64 assembly of packages kernels, hexenc, asciimask
// and blake2b, and the Go declarations that go with it:
//
//	go run . -kernel sha256_shani -pkg kernels -out f_amd64.s -stubs f_amd64.go
//
// gen.sh knows every file and regenerates them all; check.sh proves that what
// is in the tree is what the generator writes.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"

	. "github.com/mmcloughlin/avo/build"
)

// generators maps a kernel's name to what emits it.
var generators = map[string]func(){}

// register adds a generator; every file of this program calls it once.
func register(name string, emit func()) bool {
	generators[name] = emit
	return true
}

var kernel = flag.String("kernel", "", "which kernel to write; \"list\" names them all")

func main() {
	flag.Parse()
	if *kernel == "list" {
		names := make([]string, 0, len(generators))
		for name := range generators {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			fmt.Println(name)
		}
		return
	}
	emit, ok := generators[*kernel]
	if !ok {
		fmt.Fprintf(os.Stderr, "asm: no kernel %q\n", *kernel)
		os.Exit(2)
	}
	ConstraintExpr("!purego")
	emit()
	Generate()
}
