package result

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/arrowmask/arrowmask/internal/cpu"
	"github.com/arrowmask/arrowmask/kernels"
)

const machineFile = "machine.json"

// Machine says where a run was made, with what and when.
type Machine struct {
	CPU      string `json:"cpu"`
	Features string `json:"features"` // those that arrowmask may use
	CPUs     int    `json:"cpus"`     // logical ones that Go sees
	OS       string `json:"os"`       // "linux/amd64", and the kernel's release where it tells
	Go       string `json:"go"`
	Version  string `json:"version"` // git describe; "unknown" outside a clone
	// Backends are the active ones by digest.
	Backends map[string]string `json:"backends"`
	// Suites are those that have records, each from its last run.
	Suites map[string]Ran `json:"suites"`
}

// Ran is one run of a suite.
type Ran struct {
	Date    time.Time `json:"date"`
	Command string    `json:"command"`
	Version string    `json:"version"` // git describe at the time
	Seconds float64   `json:"seconds"`
}

// NewMachine asks the machine; root is the repository.
func NewMachine(root string) Machine {
	m := Machine{
		CPU: cpu.Name(), Features: cpu.Features().String(), CPUs: runtime.NumCPU(),
		OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Version: "unknown",
		Backends: map[string]string{}, Suites: map[string]Ran{},
	}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.OS += " " + strings.TrimSpace(string(b))
	}
	if b, err := exec.Command("git", "-C", root, "describe", "--tags", "--always", "--dirty").Output(); err == nil {
		m.Version = strings.TrimSpace(string(b))
	}
	for _, alg := range kernels.Algs() {
		if b, err := kernels.Active(alg); err == nil {
			m.Backends[alg.String()] = b.Name
		}
	}
	return m
}

// ReadMachine is what a run wrote to dir.
func ReadMachine(dir string) (Machine, error) {
	var m Machine
	b, err := os.ReadFile(filepath.Join(dir, machineFile))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	return m, err
}

// Ran adds a run of a suite to machine.json. What other suites wrote stays,
// where it was measured on this machine.
func (w *Writer) Ran(m Machine, suite string, r Ran) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, err := ReadMachine(w.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if before.CPU == m.CPU && before.CPUs == m.CPUs {
		for name, ran := range before.Suites {
			if _, again := m.Suites[name]; !again {
				m.Suites[name] = ran
			}
		}
	}
	r.Version = m.Version
	m.Suites[suite] = r
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.dir, machineFile), append(b, '\n'), 0o644)
}
