package arrowudf

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow/compute"

	"github.com/arrowmask/arrowmask/mask"
)

type contextKey struct{}

// WithOptions returns a context in which registered functions use these
// options. Where Mem is nil they take the context's allocator
// (compute.WithAllocator), where Threads is 0 the NumParallel of its ExecCtx.
func WithOptions(ctx context.Context, o Options) context.Context {
	return context.WithValue(ctx, contextKey{}, o)
}

// WithKeyring returns a context in which registered functions find keys by
// handle. Keys never travel in function options: those are printed and
// serialised with the expressions that hold them.
func WithKeyring(ctx context.Context, keys *mask.Keyring) context.Context {
	o, _ := ctx.Value(contextKey{}).(Options)
	o.Keys = keys
	return WithOptions(ctx, o)
}

// optionsOf are the options for a registered function called with ctx.
func optionsOf(ctx context.Context) Options {
	o, _ := ctx.Value(contextKey{}).(Options)
	if o.Mem == nil {
		o.Mem = compute.GetAllocator(ctx)
	}
	if o.Threads == 0 {
		o.Threads = compute.GetExecCtx(ctx).NumParallel
	}
	return o
}
