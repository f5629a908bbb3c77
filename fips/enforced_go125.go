//go:build !go1.26

package fips

import "crypto/md5"

// enforced reports GODEBUG=fips140=only. Go 1.25 has no function that says so;
// asking MD5 for a digest panics then.
func enforced() (refused bool) {
	defer func() { refused = recover() != nil }()
	md5.Sum(nil)
	return false
}
