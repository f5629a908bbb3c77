//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package tablefile

import (
	"errors"
	"os"
	"syscall"
)

// lockFile tries to take the lock on f, which lasts until f is closed or the process ends, however it ends.
func lockFile(f *os.File) lockState {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil:
			return lockTaken
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return lockHeld
		default:
			return lockUnknown
		}
	}
}
