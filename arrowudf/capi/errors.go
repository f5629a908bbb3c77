//go:build cgo

package main

// #include "bridge.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/cgo"
	"sync"

	"github.com/arrowmask/arrowmask/arrowudf/capi/cdata"
	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/mask"
	"github.com/arrowmask/arrowmask/policy"
)

// errHandle: not a handle, a released one, or one of another kind.
var errHandle = errors.New("not a handle of that kind, or released")

// code is the number that C sees for an error.
func code(err error) C.int {
	is := func(targets ...error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
	switch {
	case err == nil:
		return C.ARROWMASK_OK
	case is(errHandle):
		return C.ARROWMASK_EBADF
	case is(cdata.ErrMemory, mask.ErrTooLarge):
		return C.ARROWMASK_ENOMEM
	case is(fips.ErrNotApproved, policy.ErrClosed, policy.ErrIdentity, policy.ErrNoRules):
		return C.ARROWMASK_EACCES
	case is(mask.ErrType, cdata.ErrType):
		return C.ARROWMASK_ENOTSUP
	case is(mask.ErrInternal):
		return C.ARROWMASK_EIO
	}
	return C.ARROWMASK_EINVAL
}

// handle is what every object behind a handle has: the text of its latest error.
type handle struct {
	mu   sync.Mutex
	text string
}

func (h *handle) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = err.Error()
}

func (h *handle) lastError() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text
}

// object is a thing that C holds a handle of.
type object interface {
	fail(error)
	lastError() string
}

// object finds the object of a handle.
func find[T object](h C.arrowmask_handle) (found T, err error) {
	defer func() {
		if recover() != nil { // cgo.Handle panics on what is no handle
			err = errHandle
		}
	}()
	if t, ok := cgo.Handle(h).Value().(T); ok {
		return t, nil
	}
	return found, errHandle
}

// guard runs f for an object: an error or panic becomes its latest error, and
// the number for C. Nothing but the runtime's own words of a panic is kept: any
// other value might quote a cell.
func guard(o object, f func() error) C.int {
	err := caught(f)
	if err != nil && o != nil {
		o.fail(err)
	}
	return code(err)
}

func caught(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case runtime.Error:
			err = fmt.Errorf("%w: %s", mask.ErrInternal, p.Error())
		default:
			err = fmt.Errorf("%w: unexpected panic", mask.ErrInternal)
		}
	}()
	return f()
}

// withObject is guard for the object of a handle.
func withObject[T object](h C.arrowmask_handle, f func(T) error) C.int {
	o, err := find[T](h)
	if err != nil {
		return code(err)
	}
	return guard(o, func() error { return f(o) })
}

// create gives C a handle of o and runs f to make it ready. The handle is there
// after an error, too: it is where the text is.
func create(out *C.arrowmask_handle, o object, f func() error) C.int {
	if out == nil {
		return C.ARROWMASK_EINVAL
	}
	*out = C.arrowmask_handle(cgo.NewHandle(o))
	return guard(o, f)
}
