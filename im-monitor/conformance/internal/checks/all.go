// Package checks is the list of behaviours of instance managers that Drover relies on, one check each. Checks talk to the managers on the
// wire
// alone; what they make is named after the run and removed at the end of the check.
package checks

import (
	"slices"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
)

// All are the checks in the order in which they run.
func All() []suite.Check {
	return slices.Concat(wire(), v1Life(), v1Arguments(), v1Engines(), v1Processes(), v1Snapshots(), v1Limits(), v1Rebuilds(), v1Expansion(),
		v1Faults(), v1Backups(), v2Disks(), v2Lists(), v2Life(), v2Engines(), v2Frontends(), v2Switch(), v2Backups())
}

// RealOnly are the behaviours that no simulator proves.
func RealOnly() []suite.RealOnly {
	return []suite.RealOnly{
		{What: "an end of spdk_tgt alone, under a living instance manager",
			Why: "the simulator has one process for both; the suite cannot end it over the wire"},
		{What: "drivers nvme and virtio-blk of PCI addresses", Why: "they need such hardware; the suite uses aio"},
		{What: "what blkid and lsblk refuse before a device is made an aio disk",
			Why: "the suite writes nothing but through the API, so it makes no filesystem to be refused"},
		{What: "how long a kernel keeps an NVMe path, and in which order it tries them",
			Why: "the simulator's connections are not a kernel's"},
		{What: "iSCSI devices of v1 and their sessions", Why: "there is no tgt behind the simulator's frontends"},
		{What: "the 2 s until a dead v1 replica is in mode ERR, and all other times", Why: "the simulator's times are flags"},
		{What: "what a pod without a mount at /metadata loses",
			Why: "a pod's mounts are not seen on the wire; the simulator's own tests show it"},
		{What: "frontends ublk", Why: "they need the kernel's ublk driver"},
		{What: "plaintext of a server whose certificate files are bad", Why: "the simulator ends instead"},
	}
}

// Sections of the contract. Those of the wire contract are its headings, the others are the numbered sections of its completion.
const (
	onPorts     = "Where and how"
	onSemantics = "Semantics"
	onCreating  = "Creating instances"
	onDisks     = "1"
	onStart     = "4"
	onLimits    = "5"
	onBackups   = "6"
	onRestarts  = "11"
	onSwitch    = "12"
	onFacts     = "13"
)

// needs is a list that reads well.
func needs(n ...suite.Need) []suite.Need { return n }
