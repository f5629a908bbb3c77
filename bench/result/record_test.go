package result

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

var sample = Record{
	Suite: "digest", Case: Keys("alg", "sha256", "out", "hex", "len", 32, "threads", 1), Side: "go-std",
	Unit: "ns/row", Min: 98.12, Median: 99.04, Rounds: 5, Ratio: 5.8, Extra: map[string]float64{"rows": 1 << 20, "batch": 0.25},
}

// TestJSON: the keys are pairs in their order, and what is written is read.
func TestJSON(t *testing.T) {
	b, err := json.Marshal(sample)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"case":[["alg","sha256"],["out","hex"],["len","32"],["threads","1"]]`; !strings.Contains(string(b), want) {
		t.Errorf("%s does not have %s", b, want)
	}
	var got Record
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, sample) {
		t.Errorf("got %+v, want %+v", got, sample)
	}
	b, err = json.Marshal(Record{Suite: "s"})
	if err != nil || strings.Contains(string(b), "ratio") || strings.Contains(string(b), "extra") {
		t.Errorf("what is not there is written: %s, %v", b, err)
	}
}

func TestLines(t *testing.T) {
	if got, want := sample.String(), "suite=digest alg=sha256 out=hex len=32 threads=1 side=go-std rounds=5 min=98.1 median=99.0 unit=ns/row ratio=5.80 batch=0.25 rows=1048576"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := sample.Benchstat(), "BenchmarkDigest/alg=sha256/out=hex/len=32/threads=1/side=go-std 1 99.04 ns/row"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := sample.Get("len"); got != "32" || sample.Get("none") != "" {
		t.Errorf("len is %q", got)
	}
}

func TestFigure(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.012345: "0.0123", 0.5: "0.5", 1: "1.00", 9.876: "9.88", 12.34: "12.3", 123.4: "123", 1e6: "1000000", -12.34: "-12.3"} {
		if got := Figure(x); got != want {
			t.Errorf("%v: got %s, want %s", x, got, want)
		}
	}
}

func TestDecode(t *testing.T) {
	b, err := json.Marshal(sample)
	if err != nil {
		t.Fatal(err)
	}
	records, err := Decode(strings.NewReader(string(b) + "\n\n" + string(b) + "\n"))
	if err != nil || len(records) != 2 || !reflect.DeepEqual(records[1], sample) {
		t.Errorf("got %v, %v", records, err)
	}
	for name, text := range map[string]string{
		"no JSON":     "suite=digest",
		"a long key":  `{"suite":"s","side":"a","unit":"s","case":[["a","b","c"]]}`,
		"a short key": `{"suite":"s","side":"a","unit":"s","case":[["a"]]}`,
		"no suite":    `{"side":"a","unit":"s"}`,
		"no unit":     `{"suite":"s","side":"a"}`,
		"a ratio":     `{"suite":"s","side":"a","unit":"s","ratio":-1}`,
		"a blank":     `{"suite":"s","side":"a b","unit":"s"}`,
		"a blank key": `{"suite":"s","side":"a","unit":"s","case":[["a","b\nc"]]}`,
	} {
		if _, err := Decode(strings.NewReader(text)); !errors.Is(err, ErrRecord) || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
