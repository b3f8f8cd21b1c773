// Package suite is what a check is, which checks a target can serve, and how they are run and reported. It knows no behaviour: the checks
// are in
// package checks.
package suite

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"drover.dev/drover/im-monitor/conformance/internal/target"
)

// Need is something that a check needs of the target beside an instance manager of its data engine.
type Need string

// What checks need.
const (
	SecondManager Need = "second manager"
	EngineBinary  Need = "engine binary"
	BackingFile   Need = "backing file"
	TLS           Need = "TLS"
	Content       Need = "content"
	Restart       Need = "restart"
	Cut           Need = "cut"
	LoadedDisk    Need = "disk to load"
	Disk          Need = "disk to write"
	SecondDisk    Need = "second disk to write"
	SpareDevice   Need = "spare device"
	BackupTarget  Need = "backup target"
)

// Provision is how an operator gives what checks need.
type Provision struct {
	Need Need
	// What it is, and the flags that give it; %s is the data engine.
	What, Flags string
	there       func(t *target.Target, engine string) bool
}

// Provisions are those of every need.
func Provisions() []Provision {
	return []Provision{
		{SecondManager, "another instance manager of the same data engine, on another node", "--%s-second",
			func(t *target.Target, engine string) bool { return second(t, engine) != nil }},
		{EngineBinary, "the binary of an engine image, as engines and as replicas find it inside the v1 instance manager, and a " +
			"directory for replicas",
			"--engine-binary, --replica-binary and --data-path",
			func(t *target.Target, _ string) bool {
				return t.EngineBinary != "" && t.ReplicaBinary != "" && t.DataPath != ""
			}},
		{BackingFile, "a backing file inside the v1 instance manager", "--backing-file", func(t *target.Target,
			_ string) bool {
			return t.BackingFile != ""
		}},
		{TLS, "mutual TLS", "--tls-dir", func(t *target.Target, _ string) bool { return t.TLS != nil }},
		{Content, "access to the blocks of volumes", "--content", func(t *target.Target, _ string) bool { return t.Content != nil }},
		{Restart, "a way to restart the instance manager", "--restart-command",
			func(t *target.Target, _ string) bool { return t.Lab != nil && t.Lab.Can(target.CanRestart) }},
		{Cut, "a way to cut the links of the second manager's node", "--cut-command and --join-command",
			func(t *target.Target, _ string) bool { return t.Lab != nil && t.Lab.Can(target.CanCut) }},
		{LoadedDisk, "a v2 disk that is loaded by its UUID; nothing is written to it", "--disk-device and --disk-uuid",
			func(t *target.Target, _ string) bool { return t.Disk.Device != "" && (t.Disk.UUID != "" || t.Destroy) }},
		{Disk, "a block device of the v2 instance manager's node, whose content is destroyed", "--disk-device and --destroy-disk-content",
			func(t *target.Target, _ string) bool { return t.Disk.Device != "" && t.Destroy }},
		{SecondDisk, "the same on the node of the second v2 instance manager", "--second-disk-device and --destroy-disk-content",
			func(t *target.Target, _ string) bool { return t.SecondDisk.Device != "" && t.Destroy }},
		{SpareDevice, "one more block device beside the first, whose content is destroyed", "--spare-device and --destroy-disk-content",
			func(t *target.Target, _ string) bool { return t.SpareDevice != "" && t.Destroy }},
		{BackupTarget, "a backup target without credentials, in which the backups of the run stay", "--backup-target",
			func(t *target.Target, _ string) bool { return t.BackupTarget != "" }},
	}
}

// Check is one behaviour that Drover relies on.
type Check struct {
	// ID names the check on the command line, in the ledger and in the names of its objects.
	ID string
	// Name is the behaviour, a sentence without a full stop.
	Name string
	// Engine is the data engine of the manager that is checked, v1 or v2.
	Engine string
	// Contract is the section of the contract that the behaviour is from.
	Contract string
	// Needs is what the target must have.
	Needs []Need
	// Findings are the findings about earlier simulators that this check answers, such as R7.
	Findings []string
	// Assumption is what the check assumes where the contract is silent; empty where it is not.
	Assumption string
	// Run does it. It ends at the first thing that is not as it should be.
	Run func(*T)
}

// Validate returns an error unless all IDs are proper and different, and every check has its parts.
func Validate(checks []Check) error {
	proper, seen := regexp.MustCompile(`^(v1|v2)(-[a-z0-9]+)+$`), map[string]bool{}
	for _, c := range checks {
		switch {
		case !proper.MatchString(c.ID) || c.ID[:2] != c.Engine:
			return fmt.Errorf("check %q: the ID is not the data engine and some words", c.ID)
		case seen[c.ID]:
			return fmt.Errorf("check %q is there twice", c.ID)
		case c.Name == "" || c.Contract == "" || c.Run == nil:
			return fmt.Errorf("check %q lacks its sentence, its section or its function", c.ID)
		}
		seen[c.ID] = true
	}
	return nil
}

// manager is the first instance manager of a data engine.
func manager(t *target.Target, engine string) *target.Manager {
	if engine == target.V2 {
		return t.V2
	}
	return t.V1
}

// second is the other one.
func second(t *target.Target, engine string) *target.Manager {
	if engine == target.V2 {
		return t.V2Second
	}
	return t.V1Second
}

// lacks reports why a target cannot serve a check, and which flags would change that; empty when it can.
func lacks(t *target.Target, c Check) string {
	if manager(t, c.Engine) == nil {
		return "there is no " + c.Engine + " instance manager: give --" + c.Engine
	}
	var out []string
	for _, p := range Provisions() {
		if slices.Contains(c.Needs, p.Need) && !p.there(t, c.Engine) {
			out = append(out, "needs "+p.What+": give "+strings.ReplaceAll(p.Flags, "%s", c.Engine))
		}
	}
	return strings.Join(out, "; ")
}
