package mask

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestHiveVectors runs the known answers of Hive where the safe dialect says
// the same: ASCII text, integers and dates.
func TestHiveVectors(t *testing.T) {
	kinds := map[string]Kind{"TINYINT": Int8, "SMALLINT": Int16, "INT": Int32, "BIGINT": Int64, "DATE": Date32}
	ran := 0
	for _, file := range []string{"vectors/mask_hive.tsv", "vectors/derived_mask_edges.tsv"} {
		for _, line := range strings.Split(string(sharedFile(t, file)), "\n") {
			f := strings.Split(line, "\t")
			if len(f) < 8 || f[2] != "hive" && f[2] != "codepoint" || strings.HasPrefix(f[6], "error:") {
				continue
			}
			id, function, args := f[0], f[1], strings.Split(f[5], " ")
			kind, ok := kinds[f[4]]
			switch sql, _, _ := strings.Cut(f[4], "("); sql {
			case "STRING", "VARCHAR", "CHAR":
				kind, ok = Text, true
			}
			in, isASCII := vectorValue(t, kind, args[0])
			if !ok || !isASCII {
				continue
			}
			src := function + "({col}"
			for _, a := range args[1:] {
				tag, v, _ := strings.Cut(a, ":")
				switch tag {
				case "i":
					src += ", " + v
				case "s":
					src += ", '" + strings.ReplaceAll(unescape(t, v), "'", "''") + "'"
				default:
					ok = false
				}
			}
			if !ok {
				continue
			}
			want, _ := vectorValue(t, kind, f[6])
			got := one(t, src+")", in)
			if strings.HasPrefix(f[4], "CHAR") { // the vectors trim the padding
				got.Bytes = []byte(strings.TrimRight(string(got.Bytes), " "))
			}
			if !sameCell(got, want) {
				t.Errorf("%s: %s) of %s: %s, want %s", id, src, in.spell(), got.spell(), want.spell())
			}
			ran++
		}
	}
	if ran < 800 {
		t.Errorf("only %d vectors ran", ran)
	}
	t.Logf("%d vectors ran", ran)
}

func unescape(t *testing.T, s string) string {
	out, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// vectorValue reads a token; ascii is false for text that is not.
func vectorValue(t *testing.T, kind Kind, token string) (v Value, ascii bool) {
	tag, s, _ := strings.Cut(token, ":")
	v.Kind = kind
	var err error
	switch tag {
	case "null":
		v.Null = true
	case "i":
		v.Int, err = strconv.ParseInt(s, 10, 64)
	case "d":
		var year, month, day int
		if _, err = fmt.Sscanf(s, "%d-%d-%d", &year, &month, &day); err == nil {
			v.Int = time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() / 86400
		}
	case "s":
		v.Bytes = []byte(unescape(t, s))
	default:
		return v, false
	}
	if err != nil {
		t.Fatalf("%s: %v", token, err)
	}
	return v, isASCII(v.Bytes)
}
