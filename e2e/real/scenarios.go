package main

import (
	"os"
	"slices"
	"strings"
)

// suite is a package of scenarios, or a command if there are args. without names the tests that real servers cannot serve here, by name or
// by prefix and a star, each with the reason; a name with a slash is a part of a test.
type suite struct {
	name, source string
	args         []string
	without      map[string]string
}

// Reasons why a scenario is not run. A scenario that asks for what is not served reports its reason itself.
const (
	needsV2   = "the v2 data engine, which needs SPDK"
	expansion = "the expansion of a volume in use: the socket frontend does not grow, and a block device needs iSCSI"
	inside    = "the content of each replica by itself, which only the simulator shows"
	heldCopy  = "a backup that is held while it is copied: the process that begins it copies it at once"
)

// packages are the packages with scenarios, the longest first.
var packages = []suite{
	{name: "e2e/attach", source: "e2e/attach", without: map[string]string{
		"TestAnExpansionThatFailsSilently": expansion, "TestA12AVolumeGrowsDetachedAndInUse": expansion,
		"TestARebuildAtTheSnapshotLimit": inside, "TestAV1Rebuild*": inside}},
	{name: "e2e/scenarios", source: "e2e/scenarios", without: map[string]string{
		"TestO20AReplicaThatARunningEngineMapsIsNotDeletedUnderIt": needsV2, "TestO13TheLastCopyOfAVolumeIsHeld": needsV2,
		"TestAServerOfToday": needsV2,
		"TestScenarios/O12 the node is evicted: its orphans are cleaned up, but not a last copy": needsV2}},
	{name: "e2e/snapshot", source: "e2e/snapshot"},
	{name: "e2e/snapshot/backup", source: "e2e/snapshot/backup", without: map[string]string{
		"TestS14ASnapshotThatIsDeletedWhileItIsCopied": heldCopy, "TestS14AWorkloadInterruptsABackup": heldCopy,
		"TestS14AVolumeThatGoes": heldCopy, "TestS14TakenRestoredAndDeleted": heldCopy}},
	{name: "e2e/snapshot/kubernetes", source: "e2e/snapshot/kubernetes"},
	{name: "e2e/restore", source: "e2e/restore"},
	{name: "the demo", source: "e2e/demo", args: []string{}},
	{name: "crash points of A1", source: "e2e/faults", args: crashPoints("A1", "attach-controller", "1/2")},
	{name: "crash points of A9", source: "e2e/faults", args: crashPoints("A9", "im-monitor", "1/3")},
	{name: "crash points of S4", source: "e2e/faults", args: crashPoints("S4", "im-monitor", "1/3")},
	{name: "crash points of O9", source: "e2e/faults", args: crashPoints("O9", "orphan-controller", "1/2")},
	{name: "e2e/disks", source: "e2e/disks", without: map[string]string{"Test*": needsV2}},
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
	if spdkTarget == "" {
		return needsV2 + ": name its binary (SPDK_TARGET=path)"
	}
	if _, err := os.Stat("/sys/module/nvme_tcp"); err != nil {
		return needsV2 + ": this kernel has not loaded nvme_tcp"
	}
	return needsV2 + ": this program does not start " + spdkTarget + " yet"
}
