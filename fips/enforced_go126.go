//go:build go1.26

package fips

import "crypto/fips140"

// enforced reports GODEBUG=fips140=only.
func enforced() bool { return fips140.Enforced() }
