package main

import (
	"os"
	"slices"
	"strings"
)

// suite is a package of scenarios. without names the tests that real servers cannot serve here, by name or by prefix and a star, each with
// the reason; a name with a slash is a part of a test.
type suite struct {
	name    string
	without map[string]string
}

// Reasons why a scenario is not run.
const (
	needsV2 = "needs the v2 data engine: no SPDK on this machine"
)

// packages are the packages with scenarios, in the order in which they run.
var packages = []suite{
	{name: "e2e/attach", without: map[string]string{}},
}

// packageNames are the names of all packages.
func packageNames() []string {
	var names []string
	for _, p := range packages {
		names = append(names, p.name)
	}
	return names
}

// reason is why a test is not run; empty if it is run.
func (s suite) reason(test string) string {
	for name, reason := range s.without {
		if prefix, isPrefix := strings.CutSuffix(name, "*"); name == test || isPrefix && strings.HasPrefix(test, prefix) {
			return reason
		}
	}
	return ""
}

// skipped is the pattern of the parts of tests that are not run.
func (s suite) skipped() string {
	var patterns []string
	for name := range s.without {
		if strings.Contains(name, "/") {
			patterns = append(patterns, "^"+strings.ReplaceAll(name, "/", "$/^")+"$")
		}
	}
	slices.Sort(patterns)
	return strings.Join(patterns, "|")
}

// withoutV2 is why the v2 data engine is not run.
func withoutV2(spdkTarget string) string {
	if spdkTarget == "" {
		return "needs the v2 data engine: name a binary of SPDK (SPDK_TARGET=path)"
	}
	if _, err := os.Stat("/sys/module/nvme_tcp"); err != nil {
		return "needs the v2 data engine: this kernel has not loaded nvme_tcp"
	}
	return "needs the v2 data engine: this program does not start " + spdkTarget + " yet"
}
