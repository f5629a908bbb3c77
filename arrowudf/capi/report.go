//go:build cgo

package main

// #include "bridge.h"
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/hexenc"
	"github.com/arrowmask/arrowmask/kernels"
	"github.com/arrowmask/arrowmask/mask"
)

// version is set when the library is linked: -ldflags "-X main.version=v1.2.3".
var version = ""

type report struct {
	Version  string            `json:"arrowmask"`
	ABI      int               `json:"abi"`
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	FIPS     bool              `json:"fips"`
	Dialects []string          `json:"dialects"`
	Backends map[string]string `json:"backends"`
	Errors   []string          `json:"errors"`
}

func makeReport() report {
	r := report{
		Version: version, ABI: C.ARROWMASK_ABI_VERSION,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		FIPS: fips.Enabled(), Dialects: mask.Dialects(),
		Backends: map[string]string{}, Errors: []string{},
	}
	if info, ok := debug.ReadBuildInfo(); ok && r.Version == "" {
		r.Version = info.Main.Version
	}
	for _, err := range settingsErrors() {
		r.Errors = append(r.Errors, err.Error())
	}
	r.Backends["hex"] = hexenc.Active().Name
	for _, alg := range kernels.Algs() {
		if fips.Enabled() {
			if alg.SHA2() {
				r.Backends[alg.String()] = "std"
			}
			continue
		}
		b, err := kernels.Active(alg)
		if err != nil {
			r.Errors = append(r.Errors, err.Error())
			continue
		}
		r.Backends[alg.String()] = b.Name
	}
	return r
}

// settingsErrors says which settings of the environment cannot be honoured.
func settingsErrors() []error {
	return slices.DeleteFunc([]error{fips.Err(), kernels.Err(), hexenc.Err()}, func(err error) bool { return err == nil })
}

//export am_go_report
func am_go_report() (text *C.char) {
	_ = caught(func() error {
		b, err := json.Marshal(makeReport())
		if err == nil {
			text = cText(string(b))
		}
		return err
	})
	return text
}

//export am_go_selftest
func am_go_selftest(out **C.char) C.int {
	var b strings.Builder
	status := guard(nil, func() error { return selftest(&b) })
	if out != nil {
		*out = cText(b.String())
	}
	return status
}

// selftest runs the known answers of every backend that may be used here.
func selftest(b *strings.Builder) error {
	failed := 0
	for _, err := range settingsErrors() {
		failed++
		fmt.Fprintf(b, "FAILED: %v\n", err)
	}
	for _, alg := range kernels.Algs() {
		for _, be := range kernels.All(alg) {
			outcome := "passed"
			_, err := kernels.ByName(alg, be.Name)
			switch {
			case fips.Enabled() && (!alg.SHA2() || be.Name != "std"):
				outcome = "not used in FIPS mode"
			case errors.Is(err, kernels.ErrUnsupportedBackend):
				outcome = "not on this processor: " + be.Reason()
			case err != nil:
				failed++
				outcome = fmt.Sprintf("FAILED: %v", err)
			}
			fmt.Fprintf(b, "%s %s: %s\n", alg, be.Name, outcome)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%w: %d self-tests failed", mask.ErrInternal, failed)
	}
	return nil
}
