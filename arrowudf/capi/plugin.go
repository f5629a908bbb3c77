//go:build cgo

package main

// #include "bridge.h"
import "C"

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"unsafe"

	"github.com/arrowmask/arrowmask/mask"
)

// am_go_plugin_options reads the options out of the kwargs of a Polars plugin;
// nil when they are not what arrowmask.polars writes. The caller frees the text.
//
//export am_go_plugin_options
func am_go_plugin_options(kwargs unsafe.Pointer, n C.size_t, keyring *C.arrowmask_handle) (text *C.char) {
	_ = caught(func() error {
		b, err := content(kwargs, n)
		if err != nil {
			return err
		}
		value, err := unpickle(b, "options")
		if err != nil {
			return err
		}
		handle, options, _ := strings.Cut(value, " ")
		h, err := strconv.ParseUint(handle, 10, 64)
		if err != nil {
			return mask.ErrArgument
		}
		*keyring = C.arrowmask_handle(h)
		text = cText(options)
		return nil
	})
	return text
}

var errPickle = errors.New("not a pickled dict of one text")

// unpickle reads a pickled dict with the one key and a text as its value, which
// is all that arrowmask.polars sends: opcodes of Python's pickle protocols 2 to 5.
func unpickle(b []byte, key string) (string, error) {
	var texts []string
	dict, set := 0, 0
	take := func(n uint64) ([]byte, bool) {
		if n > uint64(len(b)) {
			return nil, false
		}
		head := b[:n]
		b = b[n:]
		return head, true
	}
	for len(b) > 0 {
		op := b[0]
		b = b[1:]
		skip, size := uint64(0), uint64(0)
		switch op {
		case 0x80, 'q': // protocol; memo of one byte
			skip = 1
		case 'r': // memo of four
			skip = 4
		case 0x95: // frame
			skip = 8
		case 0x94: // memo
		case '}':
			dict++
		case 's':
			set++
		case '.':
			if len(b) == 0 && dict == 1 && set == 1 && len(texts) == 2 && texts[0] == key {
				return texts[1], nil
			}
			return "", errPickle
		case 0x8c:
			size = 1
		case 'X':
			size = 4
		case 0x8d:
			size = 8
		default:
			return "", errPickle
		}
		if _, ok := take(skip); !ok {
			return "", errPickle
		}
		if size == 0 {
			continue
		}
		head, ok := take(size)
		if !ok {
			return "", errPickle
		}
		var length [8]byte
		copy(length[:], head)
		body, ok := take(binary.LittleEndian.Uint64(length[:]))
		if !ok {
			return "", errPickle
		}
		texts = append(texts, string(body))
	}
	return "", errPickle
}
