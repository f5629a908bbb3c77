// Package rival runs rivals that are programs of their own: it starts them, has
// them work on the same columns as arrowmask, in turns with it, and compares what
// they computed before their time counts.
//
// A program speaks in lines. It begins with what it is and has:
//
//	side NAME FUNCTION...
//	skip NAME WHY                       a side that this machine cannot have
//	ready VERSION
//
// and then answers every command with one line, "ok" with what was asked for, or
// "error" with a reason:
//
//	load COLUMN PATH                          read a column (see Column.WriteFile)
//	run SIDE FUNCTION COLUMN THREADS ROWS     ok NANOSECONDS
//	out PATH                                  write the digests of the latest run, one after the other
package rival

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ErrProgram is wrapped by every error of a program or about its answers.
var ErrProgram = errors.New("rival program")

// Program is a rival that was started. It is for one goroutine.
type Program struct {
	// Functions of every side that the program has, by name.
	Functions map[string][]string
	// Sides are their names, in the program's order.
	Sides []string
	// Skipped says of every side that it has not why.
	Skipped map[string]string
	// Version of the program or of what it measures.
	Version string

	name    string
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Scanner
	stderr  tail
}

// tail keeps the end of what is written to it: where a program fails, it says
// why.
type tail struct{ text []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	t.text = t.text[max(len(t.text)-500, 0):]
	return len(b), nil
}

// Start starts a program and reads what it has. It ends when the context does, or
// by Close.
func Start(ctx context.Context, env []string, name string, args ...string) (*Program, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &Program{
		Functions: map[string][]string{}, Skipped: map[string]string{},
		name: name, cmd: cmd, in: in, answers: bufio.NewScanner(out),
	}
	cmd.Stderr = &p.stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := p.greeting(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// greeting reads the lines up to ready.
func (p *Program) greeting() error {
	for {
		line, err := p.line()
		if err != nil {
			return err
		}
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "side":
			f := strings.Fields(rest)
			if len(f) < 2 {
				return p.errorf("a side without functions: %q", line)
			}
			p.Sides = append(p.Sides, f[0])
			p.Functions[f[0]] = f[1:]
		case "skip":
			side, why, _ := strings.Cut(rest, " ")
			p.Skipped[side] = why
		case "ready":
			p.Version = rest
			return nil
		default:
			return p.errorf("%q before ready", line)
		}
	}
}

// Load has the program read a column, by way of a file in dir.
func (p *Program) Load(c *Column, dir string) error {
	path := filepath.Join(dir, c.Name)
	if err := c.WriteFile(path); err != nil {
		return err
	}
	if _, err := p.ask("load", c.Name, path); err != nil {
		return err
	}
	return os.Remove(path)
}

// Run has a side compute a function of the first rows of a column and returns
// how long that took.
func (p *Program) Run(side, function, column string, threads, rows int) (time.Duration, error) {
	answer, err := p.ask("run", side, function, column, strconv.Itoa(threads), strconv.Itoa(rows))
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseInt(answer, 10, 64)
	if err != nil || ns <= 0 {
		return 0, p.errorf("%q is no time", answer)
	}
	return time.Duration(ns), nil
}

// Out has the program write the digests of the latest run to a file, and
// returns them.
func (p *Program) Out(path string) ([]byte, error) {
	if _, err := p.ask("out", path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// Close ends the program. The error, where it did not end well, has the last of
// what it said.
func (p *Program) Close() error {
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		return p.errorf("%v: %s", err, strings.Join(strings.Fields(string(p.stderr.text)), " "))
	}
	return nil
}

func (p *Program) ask(words ...string) (string, error) {
	if _, err := fmt.Fprintln(p.in, strings.Join(words, " ")); err != nil {
		return "", p.errorf("%v", err)
	}
	line, err := p.line()
	if err != nil {
		return "", err
	}
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "ok":
		return rest, nil
	case "error":
		return "", p.errorf("%s: %s", words[0], rest)
	}
	return "", p.errorf("%s: answer %q", words[0], line)
}

func (p *Program) line() (string, error) {
	if !p.answers.Scan() {
		if err := p.answers.Err(); err != nil {
			return "", p.errorf("%v", err)
		}
		return "", p.errorf("it ended")
	}
	return p.answers.Text(), nil
}

func (p *Program) errorf(format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrProgram, p.name, fmt.Sprintf(format, args...))
}
