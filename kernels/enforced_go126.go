//go:build go1.26

package kernels

import "crypto/fips140"

// enforced is GODEBUG=fips140=only: Go's cryptographic functions panic when
// asked for something that FIPS 140-3 does not approve. Read at start, when no
// fips140.WithoutEnforcement can be in force.
var enforced = fips140.Enforced()
