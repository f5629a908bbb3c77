package limit

// chain does n times 32 additions and exclusive-ors, each of which needs the
// result of the one before: as many steps as a core has cycles, since both take
// one and nothing of them can be left out or done ahead. The processor does
// whatever else the loop needs beside them.
func chain(n int, x, a, b uint64) uint64 {
	for range n {
		x = (((x + a) ^ b) + a ^ b)
		x = (((x + a) ^ b) + a ^ b)
		x = (((x + a) ^ b) + a ^ b)
		x = (((x + a) ^ b) + a ^ b)
		x = (((x + a) ^ b) + a ^ b)
		x = (((x + a) ^ b) + a ^ b)
		x = (((x + a) ^ b) + a ^ b)
		x = (((x + a) ^ b) + a ^ b)
	}
	return x
}

// chainSteps is how many dependent operations chain does a time.
const chainSteps = 32
