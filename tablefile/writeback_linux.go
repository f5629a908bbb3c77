//go:build linux && (amd64 || arm64)

package tablefile

import (
	"os"
	"syscall"
)

// startWriteback asks the system to begin bringing a part of a file to disk, so that little is left to wait for when the file is synced. It is a
// courtesy: whatever fails is left to the sync.
func startWriteback(f *os.File, at, size int64) {
	const write = 2 // SYNC_FILE_RANGE_WRITE of sync_file_range(2)
	_ = syscall.SyncFileRange(int(f.Fd()), at, size, write)
}
