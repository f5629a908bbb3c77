package rounds

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// heap keeps Go's garbage collector out of runs. The zero value leaves it alone.
type heap struct {
	growth uint64 // bytes, see Match.Growth
	held   uint64 // bytes when it was last collected
	sample [1]metrics.Sample
}

// quiet keeps the collector from starting by itself until again is called.
func (h *heap) quiet() (again func()) {
	if h.growth == 0 {
		return func() {}
	}
	percent := debug.SetGCPercent(-1)
	h.collect()
	return func() { debug.SetGCPercent(percent) }
}

func (h *heap) collect() {
	runtime.GC() // ends what is under way, too
	h.held = h.read(heapHeld)
}

// ready collects if so much has been allocated since the last time.
func (h *heap) ready() {
	if h.growth > 0 && h.read(heapHeld) > h.held+h.growth {
		h.collect()
	}
}

// allocated is how many bytes were ever allocated, 0 where it is left alone.
func (h *heap) allocated() uint64 {
	if h.growth == 0 {
		return 0
	}
	return h.read(heapEver)
}

// What is read of the runtime, in bytes.
const (
	heapEver = "/gc/heap/allocs:bytes"
	heapHeld = "/memory/classes/heap/objects:bytes"
)

// read allocates nothing itself.
func (h *heap) read(name string) uint64 {
	h.sample[0].Name = name
	metrics.Read(h.sample[:])
	return h.sample[0].Value.Uint64()
}
