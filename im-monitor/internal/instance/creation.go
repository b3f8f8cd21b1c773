package instance

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Creation is what to make, in the words of the instance-manager contract. It has a process (Binary, v1) or an SPDK part (v2).
type Creation struct {
	PortCount int32
	PortArgs  []string
	// Binary and Args are a v1 process.
	Binary string
	Args   []string
	SPDK   *SPDK
	// EngineName and TargetAddress are what a frontend connects to.
	EngineName, TargetAddress string
}

// SPDK is a v2 instance.
type SPDK struct {
	Replicas                                    map[string]string
	DiskName, DiskUUID, BackingImage            string
	Size                                        int64
	Frontend                                    string
	SalvageRequested                            bool
	UblkQueueDepth, UblkNumberOfQueue, IOQueues int
	SnapshotMaxCount                            int
}

const (
	// defaultSnapshots is the count where the object says none: 0 would refuse every snapshot.
	defaultSnapshots = 250
	// The ports of a v1 replica are its own three and those of its sync agents.
	replicaPortsV1, syncAgentPorts = 10, 7
	replicaPortsV2                 = 5
)

// creation is what to make; lacks is a sentence on what the object does not say.
func creation(w World) (out *Creation, lacks string) {
	if lacks := lacking(w); lacks != "" {
		return nil, lacks
	}
	switch {
	case w.frontend():
		return frontend(w), ""
	case w.v2() && w.engine():
		return engineV2(w), ""
	case w.v2():
		return replicaV2(w), ""
	case w.engine():
		return engineV1(w), ""
	}
	return replicaV1(w), ""
}

func lacking(w World) string {
	o := w.Object
	switch {
	case w.frontend() && !w.v2():
		return "Only v2 volumes have frontends of their own."
	case w.frontend() && (o.Target.Address() == "" || o.Target.Engine == ""):
		return "Its target is not known yet."
	case w.frontend():
		return ""
	case o.Size <= 0:
		return "It has no size."
	case w.engine() && len(o.Engine.Replicas) == 0:
		return "It has no replicas."
	case !w.v2() && o.Image == "":
		return "It has no engine image."
	case w.replica() && w.v2() && w.DiskName == "":
		return fmt.Sprintf("Node %s has no disk with UUID %s that is loaded; see its status.diskStatus.", o.NodeID, o.Replica.DiskID)
	case w.replica() && !w.v2() && (o.Replica.DiskPath == "" || o.Replica.Directory == ""):
		return "It has no data directory."
	}
	return ""
}

func replicaV1(w World) *Creation {
	o := w.Object
	args := []string{"--volume-name", o.Volume, "replica", path.Join(w.Settings.HostPrefix, o.Replica.DiskPath, "replicas", o.Replica.Directory), "--size", number(o.Size)}
	if o.RevisionCounterDisabled {
		args = append(args, "--disableRevCounter")
	}
	args = append(args, "--replica-instance-name", o.Name, "--snapshot-max-count", strconv.Itoa(w.snapshots()), "--snapshot-max-size", number(o.SnapshotMaxSize),
		"--sync-agent-port-count", strconv.Itoa(syncAgentPorts))
	return &Creation{PortCount: replicaPortsV1, PortArgs: []string{"--listen,:"}, Args: args,
		Binary: path.Join(w.Settings.HostPrefix, w.Settings.ControlPath, "engine-binaries", imageDirectory(o.Image), "longhorn")}
}

func engineV1(w World) *Creation {
	o := w.Object
	args := []string{"--engine-instance-name", o.Name, "controller", o.Volume, "--frontend", w.frontendV1()}
	if o.RevisionCounterDisabled {
		args = append(args, "--disableRevCounter")
	}
	if o.SalvageRequested {
		args = append(args, "--salvageRequested")
	}
	current := o.Engine.CurrentSize
	if current <= 0 {
		current = o.Size
	}
	args = append(args, "--size", number(o.Size), "--current-size", number(current),
		"--engine-replica-timeout", strconv.Itoa(w.Settings.ReplicaTimeout), "--file-sync-http-client-timeout", strconv.Itoa(w.Settings.FileSyncTimeout))
	if o.Engine.UnmapMarkRemoved {
		args = append(args, "--unmap-mark-snap-chain-removed")
	}
	args = append(args, "--snapshot-max-count", strconv.Itoa(w.snapshots()), "--snapshot-max-size", number(o.SnapshotMaxSize),
		"--rebuild-sync-concurrent-limit", strconv.Itoa(w.rebuildConcurrency()))
	for _, name := range slices.Sorted(maps.Keys(o.Engine.Replicas)) {
		args = append(args, "--replica", "tcp://"+o.Engine.Replicas[name])
	}
	return &Creation{PortCount: 1, PortArgs: []string{"--listen,:"}, Args: args,
		Binary: path.Join(w.Settings.EnginePrefix, imageDirectory(o.Image), "longhorn")}
}

func replicaV2(w World) *Creation {
	o := w.Object
	return &Creation{PortCount: replicaPortsV2, SPDK: &SPDK{DiskName: w.DiskName, DiskUUID: o.Replica.DiskID, Size: o.Size,
		BackingImage: o.Replica.BackingImage, SalvageRequested: o.SalvageRequested, SnapshotMaxCount: w.snapshots()}}
}

func engineV2(w World) *Creation {
	o := w.Object
	return &Creation{PortCount: 1, SPDK: &SPDK{Replicas: o.Engine.Replicas, Size: o.Size, Frontend: w.frontendV2(),
		SalvageRequested: o.SalvageRequested, SnapshotMaxCount: w.snapshots()}}
}

func frontend(w World) *Creation {
	o := w.Object
	return &Creation{PortCount: 1, EngineName: o.Target.Engine, TargetAddress: o.Target.Address(), SPDK: &SPDK{Size: o.Size, Frontend: w.frontendV2(),
		UblkQueueDepth: o.UblkQueueDepth, UblkNumberOfQueue: o.UblkNumberOfQueue, IOQueues: o.Target.IOQueues}}
}

// frontendV1 is the engine's own word.
func (w World) frontendV1() string {
	if w.Object.DisableFrontend {
		return ""
	}
	switch w.Object.Frontend {
	case "blockdev":
		return "tgt-blockdev"
	case "iscsi":
		return "tgt-iscsi"
	}
	return w.Object.Frontend
}

// frontendV2 is the server's word, the same for an engine and its frontend: with an empty one no target is exported.
func (w World) frontendV2() string {
	if w.Object.DisableFrontend {
		return ""
	}
	switch w.Object.Frontend {
	case "blockdev":
		return "spdk-tcp-blockdev"
	case "nvmf":
		return "spdk-tcp-nvmf"
	}
	return w.Object.Frontend
}

func (w World) snapshots() int {
	if w.Object.SnapshotMaxCount > 0 {
		return w.Object.SnapshotMaxCount
	}
	return defaultSnapshots
}

// rebuildConcurrency is at least 1: with 0 the engine exits.
func (w World) rebuildConcurrency() int {
	if w.Object.Engine.RebuildConcurrency > 0 {
		return w.Object.Engine.RebuildConcurrency
	}
	return max(w.Settings.RebuildConcurrency, 1)
}

// imageDirectory is where the binary of an engine image lies.
func imageDirectory(image string) string {
	return strings.NewReplacer(":", "-", "/", "-").Replace(image)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
