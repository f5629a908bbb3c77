package tablefile

import "math/rand/v2"

// lockState is what came of trying to lock a file.
type lockState uint8

const (
	lockUnknown lockState = iota // the system or the file system has no such locks
	lockTaken                    // this process holds it now
	lockHeld                     // another open file holds it
)

// randomUint32 makes temporary names unlikely to collide; nothing depends on it being hard to guess.
func randomUint32() uint32 { return rand.Uint32() }
