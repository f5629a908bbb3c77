package rival

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// Engine is what a program in Go puts behind the commands.
type Engine interface {
	// Load takes a column in, under its name.
	Load(*Column) error
	// Run computes a function of the first rows of a column and tells how long
	// that took.
	Run(function, column string, threads, rows int) (time.Duration, error)
	// Digests writes those of the latest run, one after the other.
	Digests(io.Writer) error
}

// Serve is a program's end of the protocol, for one side. It returns when there
// are no more commands.
func Serve(in io.Reader, out io.Writer, side string, functions []string, version string, e Engine) error {
	if _, err := fmt.Fprintf(out, "side %s %s\nready %s\n", side, strings.Join(functions, " "), version); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		answer, err := serve(e, side, strings.Fields(lines.Text()))
		if err != nil {
			answer = "error " + strings.Join(strings.Fields(err.Error()), " ")
		}
		if _, err := fmt.Fprintln(out, answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// serve answers one command.
func serve(e Engine, side string, words []string) (string, error) {
	switch {
	case len(words) == 3 && words[0] == "load":
		c, err := ReadColumn(words[1], words[2])
		if err != nil {
			return "", err
		}
		return "ok", e.Load(c)
	case len(words) == 6 && words[0] == "run" && words[1] == side:
		threads, err := strconv.Atoi(words[4])
		if err != nil {
			return "", err
		}
		rows, err := strconv.Atoi(words[5])
		if err != nil {
			return "", err
		}
		took, err := e.Run(words[2], words[3], threads, rows)
		return fmt.Sprintf("ok %d", took.Nanoseconds()), err
	case len(words) == 2 && words[0] == "out":
		f, err := os.Create(words[1])
		if err != nil {
			return "", err
		}
		defer f.Close()
		w := bufio.NewWriterSize(f, 1<<20)
		if err := e.Digests(w); err != nil {
			return "", err
		}
		return "ok", w.Flush()
	}
	return "", fmt.Errorf("%w: no such command", ErrProgram)
}
