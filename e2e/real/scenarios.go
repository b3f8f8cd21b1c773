package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// suite is a package of scenarios, or a part of one, or a command if there are args. without names the tests that real servers cannot serve
// here, by name or by prefix and a star, each with the reason; a name with a slash is a part of a test.
type suite struct {
	name, source string
	// part is which of the parts of a package these are: each part has a World of its own. 0 parts are the whole package.
	part, parts int
	args        []string
	without     map[string]string
}

// Reasons why a scenario is not run. A scenario that asks for what is not served reports its reason itself.
const (
	needsV2     = "the v2 data engine, which needs SPDK"
	expansion   = "the expansion of a volume with a frontend: the socket frontend does not grow, and a block device needs iSCSI"
	heldCopy    = "a backup that lasts: a real engine copies these few blocks at once, and a process that is stopped reports no progress"
	heldRebuild = "a rebuild that is held while it copies: what holds it here holds it before (TestA9IMMonitorCrashes… has both)"
	v1Process   = "v2 alone: a v1 process is no copy, since its deletion keeps the data, so that nothing holds its orphan back"
	v2Answers   = "answers that only v2 servers give: no UUID, deletions that are not verified, an empty list after a restart"
)

// packages are the packages with scenarios, the longest first.
var packages = slices.Concat(
	inParts(4, suite{source: "e2e/attach", without: map[string]string{
		"TestA12ADetachedVolumeGrows": expansion, "TestA12AVolumeInUseGrows": expansion,
		"TestAV1RebuildWhoseLeaderIsKilledIsRepeated/during the copy": heldRebuild}}),
	inParts(2, suite{source: "e2e/scenarios", without: map[string]string{
		"TestO20AReplicaThatARunningEngineMapsIsNotDeletedUnderIt": v1Process, "TestO13TheLastCopyOfAVolumeIsHeld": v1Process,
		"TestAServerOfToday": v2Answers}}),
	others)

// others are the packages that run as a whole.
var others = []suite{
	{name: "crash points of A9", source: "e2e/faults", args: crashPoints("A9", "im-monitor", "1/6")},
	{name: "e2e/snapshot", source: "e2e/snapshot"},
	{name: "e2e/snapshot/backup", source: "e2e/snapshot/backup", without: map[string]string{
		"TestS14ASnapshotThatIsDeletedWhileItIsCopied": heldCopy, "TestS14AWorkloadInterruptsABackup": heldCopy,
		"TestS14AVolumeThatGoesWhileItIsCopied": heldCopy}},
	{name: "e2e/snapshot/kubernetes", source: "e2e/snapshot/kubernetes"},
	{name: "e2e/restore", source: "e2e/restore"},
	{name: "e2e/encrypted", source: "e2e/encrypted"},
	{name: "the demo", source: "e2e/demo", args: []string{}},
	{name: "crash points of A1", source: "e2e/faults", args: crashPoints("A1", "attach-controller", "1/2")},
	{name: "crash points of S4", source: "e2e/faults", args: crashPoints("S4", "im-monitor", "1/3")},
	{name: "crash points of O9", source: "e2e/faults", args: crashPoints("O9", "orphan-controller", "1/2")},
	{name: "e2e/disks", source: "e2e/disks", without: map[string]string{"Test*": needsV2}},
}

// title is the name in the report: the parts of a package have the same.
func (s suite) title() string {
	if s.args != nil {
		return s.name
	}
	return s.source
}

// inParts divides a package.
func inParts(parts int, s suite) (out []suite) {
	for part := range parts {
		s.name, s.part, s.parts = fmt.Sprintf("%s %d/%d", s.source, part+1, parts), part, parts
		out = append(out, s)
	}
	return out
}

// share returns those of the tests that are in this part.
func (s suite) share(tests []string) (out []string) {
	for i, test := range tests {
		if s.parts == 0 || i%s.parts == s.part {
			out = append(out, test)
		}
	}
	return out
}

// crashPoints are the arguments of the fault harness for a part of the points of one scenario at which one controller crashes.
func crashPoints(scenario, actor, shard string) []string {
	return []string{"--worlds=1", "--mutants=no", "--scenario=" + scenario, "--actor=" + actor, "--shard=" + shard}
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
	why := "the v2 data engine: this program starts no spdk_tgt"
	if spdkTarget != "" {
		why += ", so that SPDK_TARGET has no effect"
	}
	if _, err := os.Stat("/sys/module/nvme_tcp"); err != nil {
		why += ", and this kernel has not loaded nvme_tcp, without which no v2 volume is attached"
	}
	return why
}

// selects reports whether the expression selects the suite, or may select a test of it.
func (s suite) selects(selected *regexp.Regexp) bool {
	if s.args != nil {
		return selected.MatchString(s.name)
	}
	names, err := testsOf(s.source)
	return err != nil || slices.ContainsFunc(s.share(names), func(name string) bool { return selected.MatchString(s.title() + " " + name) })
}
