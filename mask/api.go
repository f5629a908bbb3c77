package mask

// Allocator is where outputs are allocated; arrow's memory.Allocator is one.
type Allocator interface {
	Allocate(size int) []byte
	Free([]byte)
}

// Options configure Compile. The zero value is the safe dialect, no keys and
// the active backends.
type Options struct {
	Dialect string   // "" is "safe"
	Keys    *Keyring // for mask_hmac and hmac
	// Backend forces a digest backend by name; "" is kernels.Active. In FIPS
	// mode the backend is always "std" and any other name is an error.
	Backend string
	// Char says that {col} has the SQL type CHAR, its values padded with
	// blanks: the digests of Hive do not see those. Arrow has no such type.
	Char bool
}

// EvalOptions configure Program.Eval.
type EvalOptions struct {
	// Alloc gives the Data and Valid buffers of the result, each in one
	// Allocate call of exactly its length, and none for an empty one. A mask of
	// text may ask for a buffer as long as the input and free it again before
	// Eval returns. Offsets come from Go's heap, as does everything else that
	// is not part of the result. After an error everything it gave was freed.
	// nil: Go's heap.
	Alloc   Allocator
	Threads int // goroutines at most; 0 or 1: the caller's own
	// Large asks for 64-bit offsets in a text or binary output that has
	// offsets. Otherwise the output has 64-bit offsets exactly when the input
	// column has them, else 32-bit ones.
	Large bool
	// Limit bounds the bytes of an output with 32-bit offsets; 0 is 2^31-1.
	// Tests lower it.
	Limit int64
}

// Value is one cell, for the row-at-a-time reference, literals and tests.
type Value struct {
	Kind  Kind // of a NULL value too
	Null  bool
	Bytes []byte // Text, Binary
	// Int is an integer, days (Date32), milliseconds (Date64) or 0 and 1
	// (Bool). A Uint64 is its 64 bits.
	Int int64
}
