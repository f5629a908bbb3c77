// Command arrowmask hashes and masks columns of Parquet, Arrow IPC and CSV
// files.
package main

import (
	"log"
	"os"
)

func main() {
	log.SetFlags(0) // package kernels logs when it drops a backend
	os.Exit(run(os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}
