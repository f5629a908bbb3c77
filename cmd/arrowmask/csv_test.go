package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// B33: CSV cells are text, whatever they look like. Rows and their order stay,
// NULL and the empty text stay apart, cells of columns without a mask come out
// byte for byte.
func TestB33CSV(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
	for _, tt := range []struct {
		name string
		in   string
		want string
		args []string
	}{
		{
			name: "numbers are text",
			in:   "k,v\n001,001\n1,1\n+1,+1\n1e3,1e3\n0x10,0x10\nTRUE,TRUE\nNaN,NaN\n",
			want: "k,v\n001," + hexSHA256("001") + "\n1," + hexSHA256("1") + "\n+1," + hexSHA256("+1") + "\n1e3," + hexSHA256("1e3") +
				"\n0x10," + hexSHA256("0x10") + "\nTRUE," + hexSHA256("TRUE") + "\nNaN," + hexSHA256("NaN") + "\n",
			args: []string{"--set", "v=mask_hash({col})"},
		},
		{
			name: "a quoted number is the same text as a bare one",
			in:   "k,v\n\"001\",\"001\"\n",
			want: "k,v\n\"001\"," + hexSHA256("001") + "\n",
			args: []string{"--set", "v=mask_hash({col})"},
		},
		{
			name: "NULL and empty",
			in:   "k,v\n,\n\"\",\"\"\n",
			want: "k,v\n,\n\"\"," + hexSHA256("") + "\n",
			args: []string{"--set", "v=mask_hash({col})"},
		},
		{
			name: "an empty result stays apart from NULL",
			in:   "k,v\n1,\n2,\"\"\n",
			want: "k,v\n1,\n2,\"\"\n",
			args: []string{"--set", "v=mask({col})"},
		},
		{
			name: "spaces, quotes, line ends and delimiters in cells",
			in:   "k,v\n  a  ,  b  \n\"x\"\"y\",\"p\"\"q\"\n\"two\nlines\",\"two\nlines\"\n\"a,b\",\"a,b\"\n",
			want: "k,v\n  a  ,  x  \n\"x\"\"y\",\"x\"\"x\"\n\"two\nlines\",\"xxx\nxxxxx\"\n\"a,b\",\"x,x\"\n",
			args: []string{"--set", "v=mask({col})"},
		},
		{
			name: "needless quotes stay where there is no mask",
			in:   "\"k\",\"v\"\n\"plain\",\"plain\"\n",
			want: "\"k\",\"v\"\n\"plain\",xxxxx\n",
			args: []string{"--set", "v=mask({col})"},
		},
		{
			name: "byte order mark, CRLF and no last line end",
			in:   "\ufeffk,v\r\n1,Ab\r\n2,Cd",
			want: "\ufeffk,v\r\n1,Xx\r\n2,Xx",
			args: []string{"--set", "v=mask({col})"},
		},
		{
			name: "no header: the first row is not lost",
			in:   "1,Ab\n2,Cd\n",
			want: "1,Xx\n2,Xx\n",
			args: []string{"--no-header", "--set", "f1=mask({col})"},
		},
		{
			name: "another delimiter",
			in:   "k;v\n1,5;Ab\n\"a;b\";C,d\n",
			want: "k;v\n1,5;Xx\n\"a;b\";X,x\n",
			args: []string{"--delimiter", ";", "--set", "v=mask({col})"},
		},
		{
			name: "types for masked columns",
			in:   "k,n,d\n1,007,2016-02-29\n,,\n",
			want: "k,n,d\n1,111,2016-03-01\n,,\n",
			args: []string{"--csv-type", "n=string", "--csv-type", "d=date32", "--set", "n=mask({col},'x','x','1')", "--set", "d=mask({col}, -1, -1, -1, -1, 1, 1, 2, -1)"},
		},
		{
			name: "a type on a column without a mask changes no byte",
			in:   "k,v\n+01.50,Ab\n",
			want: "k,v\n+01.50,Xx\n",
			args: []string{"--csv-type", "k=float64", "--set", "v=mask({col})"},
		},
		{
			name: "column names that need quotes",
			in:   "a=b,\"c\"\"d\"\nAb,Cd\n",
			want: "a=b,\"c\"\"d\"\nXx,Xx\n",
			args: []string{"--set", `"a=b"=mask({col})`, "--set", `c"d=mask({col})`},
		},
		{
			name: "only a header",
			in:   "k,v\n",
			want: "k,v\n",
			args: []string{"--set", "v=mask({col})"},
		},
		{
			name: "one column with a NULL row",
			in:   "v\nAb\n\n\"\"\n",
			want: "v\nXx\n\n\"\"\n",
			args: []string{"--set", "v=mask({col})"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(in, []byte(tt.in), 0o600); err != nil {
				t.Fatal(err)
			}
			arrowmask(t, append([]string{"mask", in, "-o", out, "--overwrite"}, tt.args...)...)
			got, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// B33: what breaks the rules stops the run with the row, without the cell and
// without a file.
func TestB33BadCSV(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
	for name, tt := range map[string]struct {
		in   string
		args []string
	}{
		"too few cells":              {in: "k,v\n1,SECRET\nSECRET\n"},
		"too many cells":             {in: "k,v\n1,SECRET,3\n"},
		"a quote that is not closed": {in: "k,v\n1,\"SECRET\n"},
		"a quote inside a bare cell": {in: "k,v\n1,SEC\"RET\n"},
		"text after a closing quote": {in: "k,v\n1,\"SEC\"SECRET\n"},
		"not a number":               {in: "k,v\n1,7\n2,SECRET\n", args: []string{"--csv-type", "v=int32"}},
		"too large a number":         {in: "k,v\n1,3000000000\n", args: []string{"--csv-type", "v=int32"}},
		"not a date":                 {in: "k,v\n1,2023-02-29\n", args: []string{"--csv-type", "v=date32"}},
		"an empty file":              {in: ""},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(in, []byte(tt.in), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"mask", in, "-o", out, "--set", "v=mask({col})", "-q"}, tt.args...)
			r := call{t: t}.do(args...)
			if r.code != exitFailed {
				t.Errorf("exit %d", r.code)
			}
			checkOneLine(t, r)
			if strings.Contains(r.err, "SEC") {
				t.Errorf("the error quotes a cell: %s", r.err)
			}
			noFiles(t, dir, "in.csv")
		})
	}
}
