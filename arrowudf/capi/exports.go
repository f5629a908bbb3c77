//go:build cgo

package main

// #include <stdlib.h>
// #include "bridge.h"
import "C"

import (
	"fmt"
	"runtime/cgo"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/arrowmask/arrowmask/arrowudf/capi/cdata"
	"github.com/arrowmask/arrowmask/mask"
)

func main() {}

// exporter writes outputs into blocks from malloc.
var exporter = cdata.Exporter{
	Alloc:         func(n int) unsafe.Pointer { return C.am_malloc(C.size_t(max(n, 1))) },
	Free:          func(p unsafe.Pointer) { C.free(p) },
	ReleaseSchema: uintptr(unsafe.Pointer(C.am_release_schema)),
	ReleaseArray:  uintptr(unsafe.Pointer(C.am_release_array)),
}

//export am_go_last_error
func am_go_last_error(h C.arrowmask_handle, buf *C.char, size C.size_t) C.size_t {
	o, err := find[object](h)
	text := ""
	if err != nil {
		text = err.Error()
	} else {
		text = o.lastError()
	}
	if buf != nil && size > 0 {
		dst := unsafe.Slice((*byte)(unsafe.Pointer(buf)), int(size))
		dst[copy(dst[:size-1], text)] = 0
	}
	return C.size_t(len(text))
}

//export am_go_release
func am_go_release(h C.arrowmask_handle) (status C.int) {
	return guard(nil, func() error {
		if _, err := find[object](h); err != nil {
			return err
		}
		return deleteHandle(cgo.Handle(h))
	})
}

// deleteHandle is a handle's end; of two threads that try, one gets an error.
func deleteHandle(h cgo.Handle) (err error) {
	defer func() {
		if recover() != nil {
			err = errHandle
		}
	}()
	h.Delete()
	return nil
}

// keyring is behind a handle of arrowmask_keyring_new. A keyring may not be read
// while it grows, so another takes its place for every key.
type keyring struct {
	handle
	adding sync.Mutex
	names  []string
	secret [][]byte
	keys   atomic.Pointer[mask.Keyring]
}

func (k *keyring) add(name string, key []byte) error {
	k.adding.Lock()
	defer k.adding.Unlock()
	names, secret := append(k.names, name), append(k.secret, key)
	ring := mask.NewKeyring()
	for i := range names {
		if err := ring.Add(names[i], secret[i]); err != nil {
			return err
		}
	}
	k.names, k.secret = names, secret
	k.keys.Store(ring)
	return nil
}

//export am_go_keyring_new
func am_go_keyring_new(out *C.arrowmask_handle) C.int {
	k := &keyring{}
	k.keys.Store(mask.NewKeyring())
	return create(out, k, func() error { return nil })
}

//export am_go_keyring_add
func am_go_keyring_add(h C.arrowmask_handle, name *C.char, key unsafe.Pointer, n C.size_t) C.int {
	return withObject(h, func(k *keyring) error {
		if name == nil || key == nil || n > 1<<16 {
			return fmt.Errorf("%w: no name, no key, or a key of more than 64 KiB", mask.ErrKey)
		}
		return k.add(C.GoString(name), C.GoBytes(key, C.int(n)))
	})
}

// cText is a copy of s for C; nil without memory, where C.CString would end the
// process.
func cText(s string) *C.char {
	p := C.am_malloc(C.size_t(len(s) + 1))
	if p == nil {
		return nil
	}
	dst := unsafe.Slice((*byte)(p), len(s)+1)
	dst[copy(dst, s)] = 0
	return (*C.char)(p)
}
