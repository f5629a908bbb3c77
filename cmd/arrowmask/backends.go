package main

import (
	"cmp"

	"github.com/arrowmask/arrowmask/fips"
	"github.com/arrowmask/arrowmask/hexenc"
	"github.com/arrowmask/arrowmask/kernels"
)

// Routes that a digest takes.
const (
	routeModule  = "Go's cryptographic module" // FIPS mode
	routeBackend = "arrowmask's backends"
)

// fipsBackend is the backend that goes through Go's cryptographic module.
const fipsBackend = "std"

func fipsState() fipsReport {
	s := fips.Current()
	return fipsReport{Enabled: s.Enabled, Enforced: s.Enforced, Source: s.Source}
}

func route() string {
	if fips.Enabled() {
		return routeModule
	}
	return routeBackend
}

// backendInfo is which backend computes a digest, and why not another.
type backendInfo struct {
	Algorithm string        `json:"algorithm"`
	Backend   string        `json:"backend"` // empty when none may
	Why       string        `json:"why"`
	Others    []otherReport `json:"others"`
}

type otherReport struct {
	Backend string `json:"backend"`
	Why     string `json:"why"`
}

// backendOf tells which backend the mask functions use for an algorithm.
func backendOf(alg kernels.Alg) backendInfo {
	info := backendInfo{Algorithm: alg.String(), Others: []otherReport{}}
	if fips.Enabled() {
		if !alg.SHA2() {
			info.Why = "refused: " + fips.ErrNotApproved.Error()
		} else {
			info.Backend, info.Why = fipsBackend, "FIPS mode: "+routeModule
		}
		return info
	}
	c := kernels.Chosen(alg)
	if c.Err != nil {
		info.Why = c.Err.Error()
		return info
	}
	info.Backend, info.Why = c.Backend.Name, c.Why
	for _, p := range c.Passed {
		info.Others = append(info.Others, otherReport{p.Backend.Name, p.Reason})
	}
	for _, b := range kernels.All(alg) {
		if b != c.Backend && !contains(info.Others, b.Name) {
			info.Others = append(info.Others, otherReport{b.Name, "available"})
		}
	}
	return info
}

// hexBackend tells which backend writes digests as text.
func hexBackend() backendInfo {
	c := hexenc.Chosen()
	info := backendInfo{Algorithm: "hex", Backend: c.Backend.Name, Why: c.Why, Others: []otherReport{}}
	for _, b := range hexenc.All() {
		if b != c.Backend {
			info.Others = append(info.Others, otherReport{b.Name, cmp.Or(b.Reason(), "available")})
		}
	}
	return info
}

func contains(others []otherReport, name string) bool {
	for _, o := range others {
		if o.Backend == name {
			return true
		}
	}
	return false
}
