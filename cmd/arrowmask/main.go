// Command arrowmask hashes and masks columns of Parquet, Arrow IPC and CSV
// files.
package main

import (
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}
