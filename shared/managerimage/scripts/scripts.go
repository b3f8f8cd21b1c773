// Package scripts plays the scripts of released instance-manager images for tests: which exist, and which options they know. It is
// as strict as they are: a script that the image lacks, and an option that its scripts do not know, end the start with an error. Its
// table is written by release and shares nothing with the decision that it tests.
package scripts

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Image is the scripts of one image.
type Image struct {
	// Tag names the release.
	Tag string
	// wrapper and direct are the options of start-spdk-tgt and instance-manager, each with the number of its values; wrapper is nil if
	// the image lacks start-spdk-tgt.
	wrapper, direct map[string]int
	// Frontends reports whether its servers know engine frontends, KeepsDevices whether its preStop hook leaves block devices alone
	// and waits for the end of SPDK.
	Frontends, KeepsDevices bool
}

// Start is the outcome of a start.
type Start struct {
	// SPDK reports whether spdk_tgt is started, with these options; Daemon are the arguments of longhorn-instance-manager.
	SPDK    bool
	Options map[string]string
	Daemon  []string
}

func directOptions(more ...string) map[string]int {
	out := map[string]int{"-s": 0, "--enable-spdk": 0, "-m": 1, "--spdk-cpumask": 1, "--spdk-memory-size": 1, "-g": 0,
		"--spdk-no-hugepage": 0, "-l": 1, "--spdk-log": 1, "--spdk-interrupt-mode": 0}
	for _, option := range more {
		out[option] = 1
	}
	return out
}

func wrapperOptions(whole bool) map[string]int {
	out := map[string]int{"-m": 1, "--spdk-cpumask": 1, "-c": 1, "--spdk-core-number": 1}
	if whole {
		out["--longhorn-control-path"] = 1
		out["--enable-irq-affinity"], out["--enable-workqueue-affinity"], out["--enable-rps"] = 0, 0, 0
	}
	return out
}

const (
	largePool = "--spdk-iobuf-large-pool-size"
	smallPool = "--spdk-iobuf-small-pool-size"
)

// row is a list of tags whose images have the same scripts.
type row struct {
	tags  []string
	image Image
}

func rows() []row {
	direct := directOptions()
	return []row{
		{[]string{"v1.10.0", "v1.10.1", "v1.10.2", "v1.11.0", "v1.11.1", "v1.11.2", "v1.11.3", "v1.11.x-head", "v1.12.0-dev-20260405"},
			Image{direct: direct}},
		{[]string{"v1.12.0", "v1.12.0-rc4", "v1.13.0-dev-20260531", "v1.13.0-dev-20260614"},
			Image{direct: direct, Frontends: true, KeepsDevices: true}},
		{[]string{"v1.13.0-dev-20260503", "v1.13.0-dev-20260517", "v1.12.0-rc1", "v1.12.0-rc3", "v1.12.0-dev-20260503"},
			Image{direct: direct, Frontends: true}},
		{[]string{"v1.12.1-rc1", "v1.12.1-rc2", "v1.12.1-rc3", "v1.12.1-dev-20260726"},
			Image{wrapper: wrapperOptions(true), direct: directOptions(largePool), Frontends: true, KeepsDevices: true}},
		{[]string{"v1.12.1-rc4", "v1.12.1", "v1.12.x-head", "master-head"},
			Image{wrapper: wrapperOptions(true), direct: directOptions(largePool, smallPool), Frontends: true, KeepsDevices: true}},
		{[]string{"v1.13.0-dev-20260628"},
			Image{wrapper: wrapperOptions(false), direct: direct, Frontends: true, KeepsDevices: true}},
		{[]string{"v1.13.0-dev-20260712"},
			Image{wrapper: wrapperOptions(false), direct: directOptions(largePool), Frontends: true, KeepsDevices: true}},
	}
}

// Images returns the stand-in of each release that was read.
func Images() (out []Image) {
	for _, r := range rows() {
		for _, tag := range r.tags {
			image := r.image
			image.Tag = tag
			out = append(out, image)
		}
	}
	return out
}

// laterRelease matches the releases after v1.12.1, the last release whose scripts were read. Later releases are assumed to have the same
// scripts.
var laterRelease = regexp.MustCompile(`^v1\.(12\.([2-9]|[1-9]\d+)|(1[3-9]|[2-9]\d)\.\d+)$`)

// Named returns the stand-in of a tag. A tag that names no release is the smallest image with engine frontends: what starts there
// starts on every image that serves v2.
func Named(tag string) Image {
	images := Images()
	if laterRelease.MatchString(tag) {
		tag = "v1.12.1"
	}
	for _, image := range images {
		if image.Tag == tag {
			return image
		}
	}
	smallest := slices.IndexFunc(images, func(i Image) bool { return i.Tag == "v1.12.0" })
	return images[smallest]
}

// Of returns the stand-in of an image by its reference.
func Of(reference string) Image {
	_, tag, _ := strings.Cut(reference[strings.LastIndex(reference, "/")+1:], ":")
	return Named(tag)
}

// Start starts the image with the arguments of its container.
func (i Image) Start(arguments []string) (Start, error) {
	out, err := i.Entry(arguments)
	if err != nil {
		return Start{}, err
	}
	err = out.daemon()
	return out, err
}

// Entry runs the scripts of the image with the arguments of its container, and leaves the start of longhorn-instance-manager to the caller.
func (i Image) Entry(arguments []string) (Start, error) {
	if len(arguments) == 0 {
		return Start{}, fmt.Errorf("image %s has no default command", i.Tag)
	}
	out := Start{Options: map[string]string{}}
	switch script, rest := arguments[0], arguments[1:]; {
	case script == "start-spdk-tgt" && i.wrapper != nil:
		rest = take(i.wrapper, rest, out.Options)
		if err := out.chooseMask(); err != nil {
			return Start{}, err
		}
		err := out.direct(i, rest)
		return out, err
	case script == "instance-manager":
		err := out.direct(i, rest)
		return out, err
	default:
		return Start{}, fmt.Errorf("image %s: exec %s failed: no such file (exit code 127)", i.Tag, script)
	}
}

// chooseMask is the wrapper's choice of CPUs: the number of cores counts if there is no mask.
func (s *Start) chooseMask() error {
	mask := first(s.Options, "-m", "--spdk-cpumask")
	cores, err := strconv.Atoi(first(s.Options, "-c", "--spdk-core-number"))
	if mask == "" && (err != nil || cores <= 0) {
		return fmt.Errorf("start-spdk-tgt: neither a mask nor a number of cores")
	}
	if path, ok := s.Options["--longhorn-control-path"]; ok && (!strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/host/")) {
		return fmt.Errorf("start-spdk-tgt: %s is no path of the host", path)
	}
	if mask == "" {
		s.Options["--spdk-cpumask"] = "0x1"
	}
	return nil
}

// direct runs the script instance-manager.
func (s *Start) direct(i Image, arguments []string) error {
	s.Daemon = take(i.direct, arguments, s.Options)
	_, long := s.Options["--enable-spdk"]
	_, short := s.Options["-s"]
	s.SPDK = long || short
	if s.SPDK {
		return s.spdk()
	}
	return nil
}

// spdk checks the options of spdk_tgt.
func (s *Start) spdk() error {
	if log := first(s.Options, "-l", "--spdk-log"); strings.ContainsAny(log, "/,") {
		return fmt.Errorf("spdk_tgt: unknown log flag %s", log)
	}
	mask := first(s.Options, "-m", "--spdk-cpumask")
	if _, err := strconv.ParseUint(strings.TrimPrefix(mask, "0x"), 16, 64); err != nil && !strings.HasPrefix(mask, "[") {
		return fmt.Errorf("spdk_tgt: invalid CPU mask %q", mask)
	}
	if size, err := strconv.Atoi(s.Options["--spdk-memory-size"]); err != nil || size < 0 {
		return fmt.Errorf("spdk_tgt: invalid memory size %q", s.Options["--spdk-memory-size"])
	}
	return nil
}

// daemon checks the arguments of longhorn-instance-manager.
func (s *Start) daemon() error {
	global, command := map[string]int{"--debug": 0, "--tls-dir": 1, "--url": 1}, map[string]int{"--listen": 1, "--logs-dir": 1,
		"--port-range": 1, "--spdk-port-range": 1, "--spdk-enabled": 0}
	read := map[string]string{}
	known := global
	for rest := s.Daemon; len(rest) > 0; {
		word := rest[0]
		values, ok := known[word]
		switch {
		case word == "daemon" && known["--debug"] == 0 && read["daemon"] == "":
			known, read["daemon"], rest = command, "yes", rest[1:]
		case !ok || len(rest) <= values:
			return fmt.Errorf("longhorn-instance-manager: flag provided but not defined: %s", word)
		default:
			read[word], rest = strings.Join(rest[1:1+values], " "), rest[1+values:]
		}
	}
	_, enabled := read["--spdk-enabled"]
	switch {
	case read["daemon"] == "":
		return fmt.Errorf("longhorn-instance-manager: no command")
	case !strings.HasSuffix(read["--listen"], ":8500"):
		return fmt.Errorf("longhorn-instance-manager: it does not listen on 8500")
	case enabled != s.SPDK:
		return fmt.Errorf("longhorn-instance-manager: --spdk-enabled without spdk_tgt, or the other way round")
	}
	return nil
}

// take picks known options out of the arguments wherever they stand, and returns the rest in order.
func take(known map[string]int, arguments []string, into map[string]string) (rest []string) {
	for len(arguments) > 0 {
		values, ok := known[arguments[0]]
		if !ok || len(arguments) <= values {
			rest, arguments = append(rest, arguments[0]), arguments[1:]
			continue
		}
		into[arguments[0]] = strings.Join(arguments[1:1+values], " ")
		arguments = arguments[1+values:]
	}
	return rest
}

func first(options map[string]string, names ...string) string {
	for _, name := range names {
		if value, ok := options[name]; ok {
			return value
		}
	}
	return ""
}

// Files returns the scripts by name, as far as a test of their text can see: one case label for each option.
func (i Image) Files() map[string]string {
	out := map[string]string{"instance-manager": text(i.direct), "instance-manager-v2-prestop": text(nil)}
	if i.wrapper != nil {
		out["start-spdk-tgt"] = text(i.wrapper)
	}
	return out
}

func text(options map[string]int) string {
	lines := []string{"#!/bin/bash", "case $1 in"}
	for option := range options {
		lines = append(lines, option+")", "  ;;")
	}
	return strings.Join(append(lines, "esac", ""), "\n")
}
