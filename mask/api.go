package mask

import "context"

// This file holds the signatures that the layers above build on. Bodies live
// beside the ideas they belong to.

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
	Backend string   // forces a digest backend by name; "" is kernels.Active
}

// EvalOptions configure Program.Eval.
type EvalOptions struct {
	Alloc   Allocator // nil: Go's heap
	Threads int       // goroutines at most; 0 or 1: the caller's own
	// Large asks for 64-bit offsets in a text or binary output that has
	// offsets. Otherwise the output has 64-bit offsets exactly when the input
	// column has them, else 32-bit ones.
	Large bool
	// Limit bounds the bytes of an output with 32-bit offsets; 0 is 2^31-1.
	// Tests lower it.
	Limit int64
}

// Parse reads a mask expression. The error is a *SyntaxError (wraps ErrSyntax)
// with the byte position.
func Parse(src string) (*Expr, error) { panic("unimplemented") }

// Compile checks an expression against the type of its column and chooses
// every function, rule and backend once. in is the type of {col}; for an
// expression without {col} it is ignored.
func Compile(e *Expr, in Type, o Options) (*Program, error) { panic("unimplemented") }

// Expr is a parsed expression.
type Expr struct{}

// Program is a compiled expression; read-only, safe for any goroutine.
type Program struct{}

// Out is the type of the result, known before any row is seen.
func (p *Program) Out() Type { panic("unimplemented") }

// Nullable reports whether the result may have NULLs where the input has none.
func (p *Program) Nullable() bool { panic("unimplemented") }

// Use says which digest a program computes and how.
type Use struct {
	Function string // "mask_hash"
	Alg      string // "sha256"
	Backend  string // "std"
	Keyed    bool
	KeyID    string // handle of the key, never the key
}

// Uses lists the digests of the program, outermost first.
func (p *Program) Uses() []Use { panic("unimplemented") }

// Notes are warnings for a person, in plain words: a plain hash of short
// identifiers can be enumerated, mask_hash of an integer is always NULL.
func (p *Program) Notes() []string { panic("unimplemented") }

// Eval computes the whole column. The result has in.Len rows; NULL rows have
// zeroed or no bytes; no buffer of the input is aliased. in may be nil for an
// expression without {col}: then one row is computed. The context is polled
// between chunks of rows.
func (p *Program) Eval(ctx context.Context, in *Vector, o EvalOptions) (*Vector, error) {
	panic("unimplemented")
}

// Value is one cell, for the row-at-a-time reference, literals and tests.
type Value struct {
	Kind  Kind // of a NULL value too
	Null  bool
	Bytes []byte // Text, Binary
	Int   int64  // integers, Date32 (days), Date64 (ms), Bool (0, 1)
}

// EvalRow is the row-at-a-time reference (rowref.go): written for reading,
// sharing no evaluation code with Eval.
func (p *Program) EvalRow(v Value) (Value, error) { panic("unimplemented") }

// Keyring holds keys by handle. Keys are never printed.
type Keyring struct{}

// NewKeyring is an empty keyring.
func NewKeyring() *Keyring { return &Keyring{} }

// Add stores a copy of key under a handle.
func (k *Keyring) Add(name string, key []byte) error { panic("unimplemented") }

// Signature describes a function for people: "mask_first_n(value[, n[, upper, ...]])".
type Signature struct {
	Name      string
	Usage     string
	Help      string // one line
	Output    string // "same as the input", "text: lower-case hex", ...
	Nullable  bool
	MinArgs   int
	MaxArgs   int
	ArgNames  []string
	TakesText bool
	TakesInts bool
}

// Functions lists every function of the grammar, by name.
func Functions() []Signature { panic("unimplemented") }
