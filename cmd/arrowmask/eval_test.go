package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// Digests are those of the standards' own examples (RFC 1321, FIPS 180-4) and
// of sha256sum; masks are Hive's documented examples.
func TestEval(t *testing.T) {
	for _, tt := range []struct{ expr, text, json string }{
		{"sha2('abc', 256)", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", `{"type":"text","value":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}`},
		{"sha2('abc', 0)", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", ""},
		{"sha2('abc', 224)", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7", ""},
		{"sha2('abc', 1)", "NULL", `{"type":"text","value":null}`},
		{"sha2(NULL, 256)", "NULL", ""},
		{"md5('abc')", "900150983cd24fb0d6963f7d28e17f72", ""},
		{"md5('')", "d41d8cd98f00b204e9800998ecf8427e", ""},
		{"SHA1('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d", ""},
		{"digest('abc', 'sha1')", "0xa9993e364706816aba3e25717850c26c9cd0d89d", `{"type":"binary","value":"0xa9993e364706816aba3e25717850c26c9cd0d89d"}`},
		{"hex(digest('abc', 'md5'))", "900150983CD24FB0D6963F7D28E17F72", ""},
		{"mask('AbCd-1234 é')", "XxXx-nnnn x", ""},
		{"mask_show_last_n('4012-8888-8888-1881', 4)", "nnnn-nnnn-nnnn-1881", ""},
		{"mask_first_n('AbCd-1234', 2)", "XxCd-1234", ""},
		{"mask_hash('')", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", ""},
		{"mask_hash('TestString-123')", "8b44d559dc5d60e4453c9b4edf2a455fbce054bb8504cd3eb9b5f391bd239c90", ""},
		{"mask(123456)", "111111", `{"type":"int32","value":111111}`},
		{"mask(-7)", "-1", ""},
		{"mask_null('x')", "NULL", ""},
		{"'plain'", "plain", ""},
		{"42", "42", ""},
		{"NULL", "NULL", `{"type":"null","value":null}`},
		{"TRUE", "true", `{"type":"bool","value":true}`},
		{"false", "false", `{"type":"bool","value":false}`},
		{"mask(TRUE)", "NULL", `{"type":"bool","value":null}`},
		{"9223372036854775807", "9223372036854775807", `{"type":"int64","value":9223372036854775807}`},
		{"'it''s'", "it's", `{"type":"text","value":"it's"}`},
	} {
		if got := arrowmask(t, "eval", tt.expr).out; got != tt.text+"\n" {
			t.Errorf("eval %s: %q, want %q", tt.expr, got, tt.text)
		}
		if tt.json != "" {
			if got := arrowmask(t, "eval", "--json", tt.expr).out; got != tt.json+"\n" {
				t.Errorf("eval --json %s: %q, want %q", tt.expr, got, tt.json)
			}
		}
	}
}

func TestFunctions(t *testing.T) {
	list := arrowmask(t, "functions").out
	var all []struct{ Name, Usage, Help string }
	if err := json.Unmarshal([]byte(arrowmask(t, "functions", "--json").out), &all); err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, f := range all {
		names[f.Name] = true
		if f.Help == "" || !strings.Contains(list, f.Usage) {
			t.Errorf("%s: no help, or not in the list", f.Name)
		}
		if one := arrowmask(t, "functions", strings.ToUpper(f.Name)).out; !strings.Contains(one, f.Usage) || !strings.Contains(one, f.Help) {
			t.Errorf("functions %s: %q", f.Name, one)
		}
	}
	for _, want := range strings.Fields("md5 sha1 sha2 sha224 sha256 sha384 sha512 hmac hex mask mask_first_n mask_last_n mask_show_first_n mask_show_last_n mask_hash mask_hmac mask_null") {
		if !names[want] {
			t.Errorf("%s is not listed", want)
		}
	}
}
