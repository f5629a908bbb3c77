package ranger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// object is a JSON object read key by key, with exact names: encoding/json's
// own matching ignores letter case, Ranger's does not. Unknown keys are
// ignored, as everywhere in Ranger. Values of the wrong type are collected as
// errors with their path, so that a file is reported on as a whole.
type object struct {
	m    map[string]json.RawMessage
	path string
	errs *[]error
}

var errNoObject = errors.New("not a JSON object")

func parseObject(raw []byte, path string, errs *[]error) (object, error) {
	o := object{path: path, errs: errs}
	if t := bytes.TrimSpace(raw); len(t) == 0 || t[0] != '{' {
		return o, errNoObject
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&o.m); err != nil {
		return o, err
	}
	if dec.More() {
		return o, errors.New("text after the JSON object")
	}
	return o, nil
}

func (o object) errf(key, format string, args ...any) {
	at := key
	if o.path != "" && key != "" {
		at = o.path + "." + key
	} else if key == "" {
		at = o.path
	}
	*o.errs = append(*o.errs, fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...)))
}

// has reports whether a key is there and not null.
func (o object) has(key string) bool {
	raw, ok := o.m[key]
	return ok && string(bytes.TrimSpace(raw)) != "null"
}

func (o object) str(key string) string {
	var s string
	if o.has(key) && json.Unmarshal(o.m[key], &s) != nil {
		o.errf(key, "want text")
	}
	return s
}

// scalar reads text, a number or a boolean as text: options and schedules
// write them either way.
func (o object) scalar(key string) string {
	if !o.has(key) {
		return ""
	}
	raw := bytes.TrimSpace(o.m[key])
	var s string
	switch {
	case json.Unmarshal(raw, &s) == nil:
		return s
	case raw[0] == '{' || raw[0] == '[':
		o.errf(key, "want one value")
		return ""
	}
	return string(raw)
}

// strs reads a list of texts. Ranger drops nulls and empty texts in it; here
// they are errors, for with them a user or a column would be lost.
func (o object) strs(key string) []string {
	var list []*string
	if o.has(key) && json.Unmarshal(o.m[key], &list) != nil {
		o.errf(key, "want a list of texts")
	}
	var out []string
	for i, s := range list {
		if s == nil || *s == "" {
			o.errf(key, "entry %d is empty", i)
			continue
		}
		out = append(out, *s)
	}
	return out
}

// boolean reads true, false, or their text.
func (o object) boolean(key string, def bool) bool {
	if !o.has(key) {
		return def
	}
	switch strings.ToLower(o.scalar(key)) {
	case "true":
		return true
	case "false":
		return false
	}
	o.errf(key, "want true or false")
	return def
}

func (o object) integer(key string, def int64) int64 {
	if !o.has(key) {
		return def
	}
	n, err := strconv.ParseInt(o.scalar(key), 10, 64)
	if err != nil {
		o.errf(key, "want an integer")
		return def
	}
	return n
}

// object reads a nested object; a missing one is empty.
func (o object) object(key string) object {
	path := key
	if o.path != "" {
		path = o.path + "." + key
	}
	out := object{path: path, errs: o.errs}
	if !o.has(key) {
		return out
	}
	in, err := parseObject(o.m[key], path, o.errs)
	if err != nil {
		out.errf("", "want an object")
		return out
	}
	return in
}

// list reads a list of raw values; a null in it is an error.
func (o object) list(key string) []json.RawMessage {
	var all []json.RawMessage
	if o.has(key) && json.Unmarshal(o.m[key], &all) != nil {
		o.errf(key, "want a list")
	}
	for i, raw := range all {
		if string(bytes.TrimSpace(raw)) == "null" {
			o.errf(key, "entry %d is null", i)
		}
	}
	return all
}

// objects reads a list of objects.
func (o object) objects(key string) []object {
	var out []object
	for i, raw := range o.list(key) {
		path := fmt.Sprintf("%s[%d]", key, i)
		if o.path != "" {
			path = o.path + "." + path
		}
		in, err := parseObject(raw, path, o.errs)
		if err != nil {
			in.errf("", "want an object")
			continue
		}
		out = append(out, in)
	}
	return out
}
