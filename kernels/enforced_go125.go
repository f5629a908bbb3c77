//go:build !go1.26

package kernels

import "crypto/md5"

// enforced is GODEBUG=fips140=only: Go's cryptographic functions panic when
// asked for something that FIPS 140-3 does not approve. Go 1.25 has no function
// that says so; asking MD5 for a digest does.
var enforced = func() (refused bool) {
	defer func() { refused = recover() != nil }()
	md5.Sum(nil)
	return false
}()
