package arrowudf

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// Eval compiles expr for the array's type and evaluates it once. Compile and
// Func.Call serve better where many batches of one column follow.
func Eval(ctx context.Context, expr string, arr arrow.Array, opts Options) (arrow.Array, error) {
	f, err := Compile(expr, arr.DataType(), opts)
	if err != nil {
		return nil, err
	}
	return f.Call(ctx, arr)
}

// MD5 is the digest of every text or binary value as lower-case hex text. NULL
// stays NULL. It is refused in FIPS mode.
func MD5(ctx context.Context, arr arrow.Array, opts Options) (arrow.Array, error) {
	return Eval(ctx, "md5({col})", arr, opts)
}

// SHA1 is MD5 with SHA-1.
func SHA1(ctx context.Context, arr arrow.Array, opts Options) (arrow.Array, error) {
	return Eval(ctx, "sha1({col})", arr, opts)
}

// SHA2 is the SHA-2 digest of the given bits (224, 256, 384, 512; 0 is 256) of
// every text or binary value as lower-case hex text. NULL stays NULL; any other
// number of bits makes every row NULL.
func SHA2(ctx context.Context, arr arrow.Array, bits int, opts Options) (arrow.Array, error) {
	return Eval(ctx, fmt.Sprintf("sha2({col}, %d)", bits), arr, opts)
}

// SHA256 is SHA2 with 256 bits.
func SHA256(ctx context.Context, arr arrow.Array, opts Options) (arrow.Array, error) {
	return Eval(ctx, "sha256({col})", arr, opts)
}

// SHA512 is SHA2 with 512 bits.
func SHA512(ctx context.Context, arr arrow.Array, opts Options) (arrow.Array, error) {
	return Eval(ctx, "sha512({col})", arr, opts)
}

// Digest is the raw digest of every text or binary value, as FixedSizeBinary:
// 32 bytes for "sha256".
func Digest(ctx context.Context, arr arrow.Array, alg string, opts Options) (arrow.Array, error) {
	return Eval(ctx, "digest({col}, "+quote(alg)+")", arr, opts)
}

// HMAC is HMAC-SHA-256 of every text or binary value, as lower-case hex text,
// under the key with that handle in opts.Keys.
func HMAC(ctx context.Context, arr arrow.Array, key string, opts Options) (arrow.Array, error) {
	return Eval(ctx, "hmac({col}, "+quote(key)+")", arr, opts)
}

// Hex is every text or binary value as upper-case hex text.
func Hex(ctx context.Context, arr arrow.Array, opts Options) (arrow.Array, error) {
	return Eval(ctx, "hex({col})", arr, opts)
}

// Mask replaces upper-case letters by X, lower-case ones by x and digits by n
// in text, digits by 1 in integers, and a date by 0000-01-01.
func Mask(ctx context.Context, arr arrow.Array, opts Options) (arrow.Array, error) {
	return Eval(ctx, "mask({col})", arr, opts)
}

// MaskFirstN is Mask on the first n characters or digits only.
func MaskFirstN(ctx context.Context, arr arrow.Array, n int, opts Options) (arrow.Array, error) {
	return Eval(ctx, fmt.Sprintf("mask_first_n({col}, %d)", n), arr, opts)
}

// MaskLastN is Mask on the last n characters or digits only.
func MaskLastN(ctx context.Context, arr arrow.Array, n int, opts Options) (arrow.Array, error) {
	return Eval(ctx, fmt.Sprintf("mask_last_n({col}, %d)", n), arr, opts)
}

// MaskShowFirstN is Mask on all but the first n characters or digits.
func MaskShowFirstN(ctx context.Context, arr arrow.Array, n int, opts Options) (arrow.Array, error) {
	return Eval(ctx, fmt.Sprintf("mask_show_first_n({col}, %d)", n), arr, opts)
}

// MaskShowLastN is Mask on all but the last n characters or digits.
func MaskShowLastN(ctx context.Context, arr arrow.Array, n int, opts Options) (arrow.Array, error) {
	return Eval(ctx, fmt.Sprintf("mask_show_last_n({col}, %d)", n), arr, opts)
}

// MaskHash is the SHA-256 of text as lower-case hex text; columns of any other
// type become NULL.
func MaskHash(ctx context.Context, arr arrow.Array, opts Options) (arrow.Array, error) {
	return Eval(ctx, "mask_hash({col})", arr, opts)
}

// MaskNull is NULL in every row, of the array's type.
func MaskNull(ctx context.Context, arr arrow.Array, opts Options) (arrow.Array, error) {
	return Eval(ctx, "mask_null({col})", arr, opts)
}

// quote writes a string literal of the expression grammar.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
