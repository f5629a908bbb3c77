package kernels

import "errors"

// Sentinels; every error of this package wraps one of them with the detail.
var (
	// ErrUnknownAlg: no algorithm has that name.
	ErrUnknownAlg = errors.New("unknown digest algorithm")
	// ErrUnknownBackend: no algorithm has a backend of that name.
	ErrUnknownBackend = errors.New("unknown backend")
	// ErrUnsupportedBackend: the backend exists, this machine cannot run it.
	ErrUnsupportedBackend = errors.New("backend not supported here")
	// ErrSelfTest: a backend gave a wrong digest for a known answer.
	ErrSelfTest = errors.New("self-test failed")
	// ErrKey: an HMAC key that may not be used.
	ErrKey = errors.New("unusable key")
	// ErrColumn: a column's offsets, views or selection do not fit its buffers.
	ErrColumn = errors.New("malformed column")
	// ErrBuffer: an output buffer is too short, or a row range lies outside the column.
	ErrBuffer = errors.New("buffer or range does not fit")
)
