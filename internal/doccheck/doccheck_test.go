// Package doccheck runs what the documentation tells people to run: every
// `sh` block of README.md and doc/, and every `go` block that is a program.
package doccheck

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// block is a fenced block of a Markdown file.
type block struct {
	file string
	line int
	lang string
	text string
}

func repoRoot(t *testing.T) string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

func blocks(t *testing.T, root string) []block {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "doc", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"))
	var found []block
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(root, path)
		in := false
		var b block
		for s, n := bufio.NewScanner(f), 1; s.Scan(); n++ {
			switch line := s.Text(); {
			case in && strings.HasPrefix(line, "```"):
				in = false
				found = append(found, b)
			case in:
				b.text += line + "\n"
			case strings.HasPrefix(line, "```"):
				in = true
				b = block{file: name, line: n, lang: strings.TrimPrefix(line, "```")}
			}
		}
		f.Close()
	}
	return found
}

// TestShellBlocks runs the blocks of each file one after the other in a folder
// that looks like a clone. `make` lines are not run here (they would start
// this test again): their targets must exist and be steps of .ci/run.
func TestShellBlocks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the documented commands are for a POSIX shell")
	}
	root := repoRoot(t)
	makefile := read(t, filepath.Join(root, "Makefile"))
	ci := read(t, filepath.Join(root, ".ci", "run"))
	bin := filepath.Join(t.TempDir(), "arrowmask")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/arrowmask/arrowmask/cmd/arrowmask").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}

	scripts := map[string]string{}
	var order []string
	commands := 0
	for _, b := range blocks(t, root) {
		if b.lang != "sh" {
			continue
		}
		var script strings.Builder
		for _, line := range strings.SplitAfter(b.text, "\n") {
			words := strings.Fields(line)
			if len(words) == 0 || strings.HasPrefix(words[0], "#") {
				continue
			}
			commands++
			if words[0] == "make" {
				for _, target := range words[1:] {
					if strings.HasPrefix(target, "#") {
						break
					}
					if !strings.Contains(makefile, "\n"+target+":") {
						t.Errorf("%s:%d: no make target %q", b.file, b.line, target)
					}
					if target != "build" && !strings.Contains(ci, "make "+target) {
						t.Errorf("%s:%d: make %s is not run by .ci/run", b.file, b.line, target)
					}
				}
				continue
			}
			if words[0] == "git" || words[0] == "go" && words[1] == "get" || words[0] == "go" && words[1] == "install" {
				continue // needs the published repository
			}
			script.WriteString(line)
		}
		if script.Len() > 0 {
			if _, ok := scripts[b.file]; !ok {
				order = append(order, b.file)
			}
			scripts[b.file] += script.String()
		}
	}
	if commands == 0 {
		t.Fatal("the documentation has no sh block")
	}
	for _, file := range order {
		t.Run(file, func(t *testing.T) {
			work := t.TempDir()
			for _, link := range []string{"testdata"} {
				if err := os.Symlink(filepath.Join(root, link), filepath.Join(work, link)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(work, "bin"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(bin, filepath.Join(work, "bin", "arrowmask")); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("bash", "-euxo", "pipefail", "-c", scripts[file])
			cmd.Dir = work
			cmd.Env = append(os.Environ(), "PATH="+filepath.Join(work, "bin")+":"+os.Getenv("PATH"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
	t.Logf("%d commands in %d files", commands, len(order))
}

// TestGoBlocks runs the blocks that are whole programs.
func TestGoBlocks(t *testing.T) {
	root := repoRoot(t)
	for _, b := range blocks(t, root) {
		if b.lang != "go" || !strings.HasPrefix(b.text, "package main") {
			continue
		}
		// A file named on the command line belongs to the module of the
		// working directory, wherever it lies.
		program := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(program, []byte(b.text), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "run", program)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s:%d: %v\n%s", b.file, b.line, err, out)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
