package instance

import (
	"maps"
	"path"
	"slices"
	"strconv"

	"drover.dev/drover/shared/api/v1beta2"
)

// The ports of a v1 replica are its own three and those of its sync agents.
const replicaPortsV1, syncAgentPorts = 10, 7

// flags are the arguments of a process. Each is added with the first CLI API version that understands it.
type flags struct {
	cli  int
	args []string
}

func (f *flags) add(since int, args ...string) {
	if f.cli >= since {
		f.args = append(f.args, args...)
	}
}

// when adds arguments where a condition holds.
func (f *flags) when(condition bool, since int, args ...string) {
	if condition {
		f.add(since, args...)
	}
}

// replicaV1 starts a replica. Its data always goes over TCP, although a strict-local volume could use a unix socket: a real replica leaves
// the socket's file behind, and the next one cannot listen there until somebody with access to the host removes the file.
func replicaV1(w World) *Creation {
	o, f := w.Object, &flags{cli: w.cli()}
	f.add(cliInstanceNames, "--volume-name", o.Volume)
	f.add(0, "replica", path.Join(w.Settings.HostPrefix, o.Replica.DiskPath, "replicas", o.Replica.Directory), "--size",
		number(w.backend()))
	f.when(w.backed(), 0, "--backing-file", w.backingFile())
	f.when(o.RevisionCounterDisabled, 0, "--disableRevCounter")
	f.when(f.cli < cliInstanceNames, cliTimeouts, "--volume-name", o.Volume)
	f.when(o.Replica.UnmapMarkRemoved, cliTimeouts, "--unmap-mark-disk-chain-removed")
	f.add(cliInstanceNames, "--replica-instance-name", o.Name)
	w.limits(f)
	f.when(w.Volume != nil && w.Volume.Encrypted, cliEncrypted, "--encrypted")
	f.add(0, "--sync-agent-port-count", strconv.Itoa(syncAgentPorts))
	return &Creation{PortCount: replicaPortsV1, PortArgs: []string{"--listen,:"}, Args: f.args,
		Binary: path.Join(w.Settings.HostPrefix, w.Settings.ControlPath, "engine-binaries", v1beta2.EngineBinaryDirectory(o.Image), "longhorn")}
}

func engineV1(w World) *Creation {
	o, f := w.Object, &flags{cli: w.cli()}
	f.add(cliInstanceNames, "--engine-instance-name", o.Name)
	f.add(0, "controller", o.Volume, "--frontend", w.frontendV1())
	f.when(o.RevisionCounterDisabled, 0, "--disableRevCounter")
	f.when(o.SalvageRequested, 0, "--salvageRequested")
	f.add(cliSizes, "--size", number(w.backend()), "--current-size", number(w.room().Backend(o.Engine.CurrentSize)))
	f.add(cliTimeouts, "--engine-replica-timeout", strconv.Itoa(w.Settings.ReplicaTimeout), "--file-sync-http-client-timeout",
		strconv.Itoa(w.Settings.FileSyncTimeout))
	f.when(o.Engine.UnmapMarkRemoved, cliTimeouts, "--unmap-mark-snap-chain-removed")
	w.limits(f)
	f.add(cliRebuildLimit, "--rebuild-sync-concurrent-limit", strconv.Itoa(w.rebuildConcurrency()))
	for _, name := range slices.Sorted(maps.Keys(o.Engine.Replicas)) {
		f.add(0, "--replica", "tcp://"+o.Engine.Replicas[name])
	}
	return &Creation{PortCount: 1, PortArgs: []string{"--listen,:"}, Args: f.args,
		Binary: path.Join(w.Settings.EnginePrefix, v1beta2.EngineBinaryDirectory(o.Image), "longhorn")}
}

// limits are those of snapshots, the same for engine and replica.
func (w World) limits(f *flags) {
	f.add(cliSnapshotLimits, "--snapshot-max-count", strconv.Itoa(w.snapshots()), "--snapshot-max-size", number(w.Object.SnapshotMaxSize))
}

// frontendV1 is the engine's name of the frontend.
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

// rebuildConcurrency is at least 1: with 0 the engine exits.
func (w World) rebuildConcurrency() int {
	if w.Object.Engine.RebuildConcurrency > 0 {
		return w.Object.Engine.RebuildConcurrency
	}
	return max(w.Settings.RebuildConcurrency, 1)
}

func number[N ~int64](n N) string { return strconv.FormatInt(int64(n), 10) }
