package rival

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test binary is its own rival program.
const asProgram = "RIVAL_TEST_PROGRAM"

func TestMain(m *testing.M) {
	switch os.Getenv(asProgram) {
	case "":
		os.Exit(m.Run())
	case "good":
		if err := Serve(os.Stdin, os.Stdout, "fake", []string{"sha256"}, "fake 1.0", &fake{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "absent":
		fmt.Println("skip fake it is not installed\nready")
	case "silent":
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
	case "mute":
		fmt.Println("hello")
	case "bare":
		fmt.Println("side fake")
	case "odd":
		fmt.Println("side fake sha256\nready 1")
		for _, answer := range []string{"ok soon", "perhaps", "ok 0"} {
			var line string
			fmt.Scanln(&line, new(string), new(string), new(string), new(string), new(string))
			fmt.Println(answer)
		}
	}
}

// fake computes a digest, and fails where a function is called fail.
type fake struct {
	c    *Column
	rows int
}

func (f *fake) Load(c *Column) error { f.c = c; return nil }

func (f *fake) Run(function, column string, threads, rows int) (time.Duration, error) {
	if function != "sha256" || f.c == nil || column != f.c.Name || threads != 2 {
		return 0, errors.New("not\nhere")
	}
	f.rows = rows
	return 42 * time.Microsecond, nil
}

func (f *fake) Digests(w io.Writer) error {
	for i := range f.rows {
		d := sha256.Sum256(f.c.Row(i))
		if _, err := io.WriteString(w, hex.EncodeToString(d[:])); err != nil {
			return err
		}
	}
	return nil
}

func startAs(t *testing.T, kind string) (*Program, error) {
	t.Helper()
	return Start(t.Context(), []string{asProgram + "=" + kind}, os.Args[0])
}

func TestProgram(t *testing.T) {
	p, err := startAs(t, "good")
	if err != nil {
		t.Fatal(err)
	}
	if p.Version != "fake 1.0" || len(p.Sides) != 1 || len(p.Functions["fake"]) != 1 || len(p.Skipped) != 0 {
		t.Errorf("it says that it is %q with %v %v, without %v", p.Version, p.Sides, p.Functions, p.Skipped)
	}
	c := Columns(100)[1]
	if err := p.Load(c, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	took, err := p.Run("fake", "sha256", c.Name, 2, 60)
	if err != nil || took != 42*time.Microsecond {
		t.Errorf("a run took %v, %v", took, err)
	}
	got, err := p.Out(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := NewOurs(t.Context(), c, "sha256", 1)
	if err != nil {
		t.Fatal(err)
	}
	want, err := ours.Digests(80)
	if err != nil {
		t.Fatal(err)
	}
	if err := Compare("fake", got, want, 60, 80); err != nil {
		t.Error(err)
	}
	for _, words := range [][]string{{"run", "fake", "md5", c.Name, "2", "60"}, {"run", "other", "sha256", c.Name, "2", "60"}, {"run", "fake", "sha256", c.Name, "two", "60"}, {"load", "x", "/nowhere"}, {"out"}, {""}} {
		if _, err := p.ask(words...); !errors.Is(err, ErrProgram) {
			t.Errorf("%q: %v", words, err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestStartFailures(t *testing.T) {
	if _, err := Start(context.Background(), nil, "/nowhere"); err == nil {
		t.Error("a program that is not there was started")
	}
	p, err := startAs(t, "absent")
	if err != nil {
		t.Fatal(err)
	}
	if p.Skipped["fake"] != "it is not installed" || len(p.Sides) != 0 {
		t.Errorf("skipped %v, has %v", p.Skipped, p.Sides)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	for kind, why := range map[string]string{"silent": "out of luck", "mute": "before ready", "bare": "without functions"} {
		if _, err := startAs(t, kind); !errors.Is(err, ErrProgram) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestOddAnswers(t *testing.T) {
	p, err := startAs(t, "odd")
	if err != nil {
		t.Fatal(err)
	}
	for range 4 { // at the fourth it has ended
		if _, err := p.Run("fake", "sha256", "32", 1, 1); !errors.Is(err, ErrProgram) {
			t.Errorf("an odd answer: %v", err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestColumnFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "column")
	for _, c := range Columns(1000) {
		if err := c.WriteFile(path); err != nil {
			t.Fatal(err)
		}
		back, err := ReadColumn(c.Name, path)
		if err != nil {
			t.Fatal(err)
		}
		if back.Rows() != 1000 || !bytes.Equal(back.Data, c.Data) || !bytes.Equal(back.Row(999), c.Row(999)) {
			t.Errorf("column %s came back with %d rows of %d bytes", c.Name, back.Rows(), len(back.Data))
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.Clone(b)
	wrong[16+4*1000]++ // the last offset
	for name, b := range map[string][]byte{"empty": nil, "short": b[:len(b)-1], "long": append(b, 0), "offset": wrong} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadColumn(name, path); !errors.Is(err, ErrColumn) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestColumns(t *testing.T) {
	c := Columns(5000)
	if got := len(c[0].Data); got != 32*5000 {
		t.Errorf("rows of 32 bytes have %d bytes", got)
	}
	seen := map[int]bool{}
	for i := range c[1].Rows() {
		seen[len(c[1].Row(i))] = true
	}
	if len(seen) != 31 || !seen[10] || !seen[40] {
		t.Errorf("%d lengths: %v", len(seen), seen)
	}
}

func TestCompare(t *testing.T) {
	want := []byte("aabbccdd")
	if err := Compare("x", want[:4], want, 2, 4); err != nil {
		t.Error(err)
	}
	for _, got := range []string{"aaXXcc", "aabb", "aabbccdd", ""} {
		err := Compare("x", []byte(got), want, 3, 4)
		if !errors.Is(err, ErrOutput) {
			t.Errorf("%q: %v", got, err)
		}
	}
	if err := Compare("x", []byte("aaXXcc"), want, 3, 4); !strings.HasSuffix(err.Error(), "row 1") {
		t.Error(err)
	}
}
