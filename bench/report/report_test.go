package report

import (
	"bytes"
	"errors"
	"testing"

	"github.com/arrowmask/arrowmask/bench/result"
)

func TestInsert(t *testing.T) {
	text := "a\n" + begin + "\nold\n" + end + "\nb\n"
	once, err := insert(text, "new\n")
	if want := "a\n" + begin + "\nnew\n" + end + "\nb\n"; err != nil || once != want {
		t.Fatalf("%q, %v", once, err)
	}
	if twice, err := insert(once, "new\n"); err != nil || twice != once {
		t.Errorf("a second time changes it: %q, %v", twice, err)
	}
	for _, bad := range []string{"", "a\n" + begin + "\n", end + "\n" + begin + "\n", text + text} {
		if _, err := insert(bad, "x\n"); !errors.Is(err, ErrMarkers) {
			t.Errorf("insert(%q): %v", bad, err)
		}
	}
}

func TestSaveLoad(t *testing.T) {
	dir := t.TempDir()
	r := Run{
		Machine: result.Machine{CPU: "a processor", CPUs: 2},
		Records: []result.Record{{Suite: "digest", Case: result.Keys("alg", "md5", "len", 32), Side: "go-std", Unit: "ns/row", Min: 1.23456, Median: 123456, Rounds: 5, Ratio: 0.98765}},
		Skipped: []string{"skipped suite=engines side=spark why=no Java"},
	}
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	got, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	rec := got.Records[0]
	if rec.Min != 1.235 || rec.Median != 123500 || rec.Ratio != 0.9877 || got.Machine.CPU != "a processor" || len(got.Skipped) != 1 {
		t.Errorf("got %+v", got)
	}
	if n := len(got.ahead()); n != 1 {
		t.Errorf("%d cells where a rival is ahead, want 1", n)
	}
	// A suite without records says so instead of vanishing.
	files, err := got.Page()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(files["index.html"], []byte("The records have nothing of this suite")) {
		t.Error("the page does not say what it lacks")
	}
}
