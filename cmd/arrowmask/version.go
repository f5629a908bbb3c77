package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arrowmask/arrowmask/internal/cpu"
	"github.com/arrowmask/arrowmask/kernels"
)

// version is set when the binary is linked: -ldflags "-X main.version=v1.2.3".
var version = ""

// versionInfo is what arrowmask version shows.
type versionInfo struct {
	Version  string        `json:"arrowmask"`
	Commit   string        `json:"commit"`
	Go       string        `json:"go"`
	Platform string        `json:"platform"`
	CPU      string        `json:"cpu"`
	Features string        `json:"cpu_features"`
	FIPS     fipsReport    `json:"fips"`
	Route    string        `json:"fips_route"`
	Digests  []backendInfo `json:"digests"`
	Hex      backendInfo   `json:"hex"`
	Errors   []string      `json:"errors"`
}

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the build, the processor, and which backend computes each digest and why",
		Args:  nArgs(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := gatherVersion()
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(v)
			}
			return v.print(cmd)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (v *versionInfo) print(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	build := v.Version
	if v.Commit != "" {
		build += " (commit " + v.Commit + ")"
	}
	head := [][]string{
		{"arrowmask", build},
		{"go", v.Go + " " + v.Platform},
		{"cpu", v.CPU},
		{"features", v.Features},
		{"fips", v.fipsLine()},
		{"route", v.Route},
	}
	for _, e := range v.Errors {
		head = append(head, []string{"error", e})
	}
	if err := writeTable(w, head); err != nil {
		return err
	}
	rows := [][]string{{"DIGEST", "BACKEND", "WHY", "OTHERS"}}
	for _, d := range append(v.Digests, v.Hex) {
		others := make([]string, len(d.Others))
		for i, o := range d.Others {
			others[i] = o.Backend + " (" + o.Why + ")"
		}
		rows = append(rows, []string{d.Algorithm, cmp.Or(d.Backend, "-"), d.Why, strings.Join(others, ", ")})
	}
	fmt.Fprintln(w)
	return writeTable(w, rows)
}

func (v *versionInfo) fipsLine() string {
	switch {
	case v.FIPS.Enforced:
		return "on, enforced by Go (" + v.FIPS.Source + ")"
	case v.FIPS.Enabled:
		return "on (" + v.FIPS.Source + ")"
	}
	return "off"
}

func gatherVersion() versionInfo {
	v := versionInfo{
		Version:  version,
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		CPU:      cpu.Name(),
		Features: cpu.Features().String(),
		FIPS:     fipsState(),
		Route:    route(),
		Hex:      hexBackend(),
		Errors:   []string{},
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v.Version == "" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Commit = s.Value
			}
		}
	}
	if err := checkSettings(); err != nil {
		v.Errors = append(v.Errors, oneLine(err))
	}
	for _, alg := range kernels.Algs() {
		v.Digests = append(v.Digests, backendOf(alg))
	}
	return v
}
