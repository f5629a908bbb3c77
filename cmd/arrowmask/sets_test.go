package main

import "testing"

func TestSplitNamed(t *testing.T) {
	for _, tt := range []struct {
		in, column, expr string
		bad              bool
	}{
		{in: "a=mask({col})", column: "a", expr: "mask({col})"},
		{in: "a=mask({col}, '=')", column: "a", expr: "mask({col}, '=')"},
		{in: "first name=NULL", column: "first name", expr: "NULL"},
		{in: ` a =NULL`, column: " a ", expr: "NULL"},
		{in: `"a=b"=NULL`, column: "a=b", expr: "NULL"},
		{in: `"say ""hi"""=NULL`, column: `say "hi"`, expr: "NULL"},
		{in: `""=NULL`, column: "", expr: "NULL"},
		{in: `a"b=NULL`, column: `a"b`, expr: "NULL"},
		{in: "straße=NULL", column: "straße", expr: "NULL"},
		{in: "a=", column: "a", expr: ""},
		{in: "a", bad: true},
		{in: "", bad: true},
		{in: "=NULL", bad: true},
		{in: `"a=NULL`, bad: true},
		{in: `"a"NULL`, bad: true},
		{in: `"a""=NULL`, bad: true},
	} {
		column, expr, err := splitNamed("--set", tt.in)
		if tt.bad != (err != nil) || column != tt.column || expr != tt.expr {
			t.Errorf("splitNamed(%q) = %q, %q, %v", tt.in, column, expr, err)
		}
	}
}
