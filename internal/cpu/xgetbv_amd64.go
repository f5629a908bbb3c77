//go:build amd64 && !purego

package cpu

// xgetbv reads XCR0. It faults unless the operating system has set OSXSAVE.
func xgetbv() uint64
