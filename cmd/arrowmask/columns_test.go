package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hexRow is hash_row of cells that are each spelled with the letter of their
// sort in front; the empty spelling is NULL.
func hexRow(cells ...string) string {
	var b strings.Builder
	for _, c := range cells {
		if c == "" {
			b.WriteByte(0)
			continue
		}
		b.WriteString(c[:1] + string(binary.BigEndian.AppendUint64(nil, uint64(len(c)-1))) + c[1:])
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(b.String())))
}

// An expression reads the old values of other columns. From CSV to CSV those
// are decoded, and all cells of the others stay as they stand.
func TestSeveralColumnsOfCSV(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
	for name, tt := range map[string]struct {
		in, want string
		args     []string
	}{
		"text": {
			in: "id,mail,raw\n7,\"a\"\"b\",\"r\"\n,\"\",\"1\"\n\"\",,007\n",
			want: "id,mail,raw\n" + hexRow("t7", `ta"b`) + ",\"a\"\"b\",\"r\"\n" + hexRow("", "t") + ",\"\",\"1\"\n" +
				hexRow("t", "") + ",,007\n",
			args: []string{"--set", "id=hash_row({id}, {mail})"},
		},
		"both masked": {
			in:   "id,mail\n7,ann\n",
			want: "id,mail\n" + hexRow("t7", "tann") + "," + hexRow("tann", "t7") + "\n",
			args: []string{"--set", "id=hash_row({col}, {mail})", "--set", "mail=hash_row({col}, {id})"},
		},
		"typed": {
			in:   "id,n,raw\nx,007,007\n",
			want: "id,n,raw\n" + hexRow("tx", "i7") + ",7,007\n",
			args: []string{"--set", "id=hash_row({col}, {n})", "--csv-type", "n=int16", "--csv-type", "raw=int16"},
		},
		"length by row": {
			in:   "v,bits\nabc,256\nabc,224\nabc,9\n",
			want: "v,bits\n" + hexSHA256("abc") + ",256\n" + fmt.Sprintf("%x", sha256.Sum224([]byte("abc"))) + ",224\n,9\n",
			args: []string{"--set", "v=sha2({col}, {bits})", "--csv-type", "bits=int32"},
		},
		"only another column": {
			in:   "v,w\nabc,xyz\n",
			want: "v,w\n" + hexSHA256("xyz") + ",xyz\n",
			args: []string{"--set", "v=sha256({w})"},
		},
		"a column that is called col": {
			in:   "v,col\nabc,\"007\"\n",
			want: "v,col\n" + hexRow("tabc", "tabc") + ",\"007\"\n",
			args: []string{"--set", "v=hash_row({v}, {col})"},
		},
	} {
		if err := os.WriteFile(in, []byte(tt.in), 0o600); err != nil {
			t.Fatal(err)
		}
		arrowmask(t, append([]string{"mask", in, "-o", out, "--overwrite", "-q"}, tt.args...)...)
		if got, err := os.ReadFile(out); err != nil || string(got) != tt.want {
			t.Errorf("%s: got  %q, %v\nwant %q", name, got, err, tt.want)
		}
	}
}

// The same mask of a Parquet file through every way in and out. The chunks of
// other columns are copied, and explain says so.
func TestSeveralColumnsOfParquet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := someCustomers(t)
	set := []string{"--set", "id=hash_row({id}, {email}, {birth_date})"}
	want := ""
	piped, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer piped.Close()
	for _, tt := range []struct {
		call call
		in   string
		out  string
		args []string
	}{
		{call{t: t}, in, "a.parquet", nil},
		{call{t: t}, in, "b.parquet", []string{"--rewrite", "all", "--threads", "3", "--batch-rows", "777"}},
		{call{t: t, stdin: piped}, "-", "c.parquet", []string{"--from", "parquet"}},
		{call{t: t}, in, "d.arrow", nil},
	} {
		out, csv := filepath.Join(dir, tt.out), filepath.Join(dir, "out.csv")
		if r := tt.call.do(append(append([]string{"mask", tt.in, "-o", out, "-q"}, set...), tt.args...)...); r.code != 0 {
			t.Fatalf("%s: %s", tt.out, r.err)
		}
		arrowmask(t, "mask", out, "-o", csv, "--overwrite", "--pass-through", "-q")
		got, err := os.ReadFile(csv)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(got)
			clear := filepath.Join(dir, "clear.csv")
			arrowmask(t, "mask", in, "-o", clear, "--pass-through", "-q")
			checkRowHashes(t, clear, want)
		}
		if string(got) != want {
			t.Errorf("%s differs", tt.out)
		}
		if v := arrowmask(t, append([]string{"verify", in, out}, set...)...); !strings.Contains(v.out, " old values looked for, 0 found") {
			t.Errorf("%s: %s", tt.out, v.out)
		}
	}

	r := arrowmask(t, append([]string{"explain", in, "--json", "--sample", "2"}, set...)...)
	var x explanation
	if err := json.Unmarshal([]byte(r.out), &x); err != nil {
		t.Fatal(err)
	}
	for i, c := range x.Columns {
		want := "3 copied"
		if i == 0 {
			want = "3 encoded (its function looks at more than one value)"
		}
		if c.Chunks != want {
			t.Errorf("%s: %s", c.Name, c.Chunks)
		}
	}
	if c := x.Columns[0]; c.OutputType != "utf8" || len(c.Digests) != 1 || c.Digests[0].Function != "hash_row" || c.Why == "" || len(c.Warnings) == 0 {
		t.Errorf("%+v", c)
	}
	if len(x.Sample) != 2 || x.Sample[0].Column != "id" || x.Sample[0].After != strings.SplitN(strings.Split(want, "\n")[1], ",", 2)[0] {
		t.Errorf("%+v", x.Sample)
	}
	if r := arrowmask(t, append([]string{"explain", in, "--rewrite", "all"}, set...)...); strings.Contains(r.out, "CHUNKS") {
		t.Error(r.out)
	}
	rep := arrowmask(t, append([]string{"mask", in, "-o", filepath.Join(dir, "e.parquet"), "-q", "--report", "-"}, set...)...)
	var made report
	if err := json.Unmarshal([]byte(rep.out), &made); err != nil || made.Rows != 20_000 || len(made.Columns[0].Digests) != 1 || len(made.Unmasked) != len(x.Columns)-1 {
		t.Errorf("%v: %s", err, rep.out)
	}
}

// checkRowHashes computes a few ids again, from the table in clear.
func checkRowHashes(t *testing.T, clear, masked string) {
	t.Helper()
	b, err := os.ReadFile(clear)
	if err != nil {
		t.Fatal(err)
	}
	before, after := strings.Split(string(b), "\n"), strings.Split(masked, "\n")
	if len(before) != len(after) {
		t.Fatalf("%d lines became %d", len(before), len(after))
	}
	checked := 0
	for i := 1; i < len(before) && checked < 100; i++ {
		if strings.Contains(before[i], `"`) { // not for this simple reader
			continue
		}
		old, masked := strings.Split(before[i], ","), strings.Split(after[i], ",")
		cells := []string{"i" + old[0], "", ""}
		if old[2] != "" {
			cells[1] = "t" + old[2]
		}
		if old[5] != "" {
			cells[2] = "d" + fmt.Sprint(daysOf(t, old[5]))
		}
		if masked[0] != hexRow(cells...) {
			t.Fatalf("row %d: %s", i, masked[0])
		}
		checked++
	}
	if checked < 100 {
		t.Errorf("only %d rows were checked", checked)
	}
}

func TestSeveralColumnsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
	if err := os.WriteFile(in, []byte("id,mail,dup,dup\n1,a,x,y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		set  string
		code int
		says []string
	}{
		{"id=hash_row({id}, {emial})", 1, []string{`"id"`, "{emial}", "no such column", `"id", "mail", "dup"`}},
		{"id=hash_row({id}, {Mail})", 1, []string{"{Mail}", "no such column"}},
		{"id=hash_row({id}, {dup})", 1, []string{"{dup}", "several"}},
		{"id=mask({id}, {mail})", 1, []string{"{mail}", "literal"}},
		{"id=scramble({id}, {mail})", 2, []string{"scramble"}},
		{"id=hash_row({id}, {mail)", 2, []string{"syntax", "byte"}},
		{"id=hmac(row_bytes({id}, {mail}), 'k')", 2, []string{"k"}},
	} {
		call{t: t}.refused(tt.code, tt.says, "mask", in, "-o", out, "-q", "--set", tt.set)
		call{t: t}.refused(tt.code, tt.says, "explain", in, "--set", tt.set)
	}
	noFiles(t, dir, "in.csv")
}

func daysOf(t *testing.T, date string) int64 {
	t.Helper()
	d, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatal(err)
	}
	return d.Unix() / 86400
}
