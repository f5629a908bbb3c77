// Command gen writes the sample file:
//
//	go run ./internal/samplegen/gen testdata/samples/customers.parquet
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/arrowmask/arrowmask/internal/samplegen"
)

func main() {
	rows := flag.Int("rows", samplegen.Rows, "number of rows")
	plain := flag.Bool("plain", false, "no compression, no dictionaries")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: gen [-rows N] [-plain] FILE")
		os.Exit(2)
	}
	if err := write(flag.Arg(0), samplegen.Options{Rows: *rows, Plain: *plain}); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write(name string, o samplegen.Options) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(samplegen.WriteParquet(w, o), w.Flush())
	return errors.Join(err, f.Close())
}
