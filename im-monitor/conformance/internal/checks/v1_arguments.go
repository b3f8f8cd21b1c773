package checks

import (
	"strings"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
)

// Sizes that arguments are compared in.
const (
	mebi       = int64(1) << 20
	luksHeader = 16 * mebi
)

// v1Arguments are the checks of what processes are started with.
func v1Arguments() []suite.Check {
	return []suite.Check{
		found(v1("replica-unknown-flag", "an unknown flag ends a replica at once", onStart, v1ReplicaUnknownFlag), "R7"),
		found(v1("engine-unknown-flag", "an engine ignores an unknown flag and its value behind the volume's name", onStart,
			v1EngineUnknownFlag), "R7", "K4"),
		found(v1("engine-unknown-flag-ends", "an unknown flag behind a flag without a value ends an engine at once", onStart,
			v1EngineUnknownFlagEnds), "K4"),
		v1("engine-rebuild-limit-zero", "a rebuild limit of 0 ends an engine at once", onCreating, v1EngineRebuildLimit),
		assumed(v1("engine-no-replica", "an engine none of whose replicas can be used ends with exit status 61 or 1", onStart,
			v1EngineNoReplica),
			"an engine over a replica that is gone ends with exit status 61 or 1: the contract has 1 where the replica is Unavailable"),
		found(v1("engine-current-size-zero", "--current-size 0 means unknown: the engine serves --size", onStart, v1CurrentSizeZero), "P7"),
		found(v1("engine-size-mismatch", "a replica of another size than the volume's is in mode ERR", onStart, v1SizeMismatch), "R7"),
		found(v1("engine-all-sizes-mismatch", "an engine whose replicas all have another size than the volume ends with exit status 61",
			onStart, v1AllSizesMismatch), "R7"),
		found(v1("encrypted-expands", "with --encrypted a closed replica that is 16 MiB below the volume's size is expanded at its opening",
			onStart, v1EncryptedExpands), "R7"),
		v1("replica-arguments", "a replica takes --unmap-mark-disk-chain-removed, an engine --unmap-mark-snap-chain-removed", onStart,
			v1UnmapFlags),
		found(v1("backing-file", "a block that was never written reads as the backing file has it", onStart, v1BackingFile,
			suite.BackingFile,
			suite.Content), "R7"),
		assumed(found(v1("backing-file-too-large", "a backing file that is larger than --size ends the replica", onStart,
			v1BackingFileTooLarge,
			suite.BackingFile), "R7"),
			"the replica ends at its start, not at its first use"),
		v1("replica-unix-socket", "a replica that serves its data at a unix socket leaves the socket's file behind: the next replica of "+
			"the volume ends at once", onStart, v1ReplicaUnixSocket),
		v1("salvage", "with --salvageRequested an engine runs over the replicas that it has", onStart, v1Salvage),
		v1("no-frontend", "an engine without a frontend runs, and reports no endpoint", onCreating, v1NoFrontend),
	}
}

func v1ReplicaUnknownFlag(k v1kit) {
	name := k.volume + "-r-00000001"
	_, err := k.create(k.Manager, name, k.ReplicaBinary, 10, k.replicaArguments(name, replicaOptions{more: []string{"--no-such-flag"}})...)
	if err == nil {
		k.ends(k.Manager, name)
	}
}

// v1ReplicaUnixSocket leaves a file on the node, which no call removes.
func v1ReplicaUnixSocket(k v1kit) {
	unix := replicaOptions{more: []string{"--data-server-protocol", "unix"}}
	k.stop(k.replica(k.Manager, 1, unix))
	name := k.volume + "-r-00000001"
	_, err := k.create(k.Manager, name, k.ReplicaBinary, 10, k.replicaArguments(name, unix)...)
	k.OK(err, "creating replica %s again", name)
	message := k.ends(k.Manager, name)
	k.Require(strings.Contains(message, "exit status 1"), "it ended with %q", message)
	k.OK(removeV1(k.Context(), k.Manager, name), "deleting %s", name)
	k.replica(k.Manager, 1, replicaOptions{})
}

// engineEnds starts an engine that must not run, and returns why it ended.
func (k v1kit) engineEnds(o engineOptions, replicas ...process) string {
	name := k.engineName(0)
	_, err := k.create(k.Manager, name, k.EngineBinary, 1, k.engineArguments(name, o, replicas...)...)
	if err != nil {
		return err.Error()
	}
	return k.ends(k.Manager, name)
}

func v1EngineUnknownFlag(k v1kit) {
	r := k.replica(k.Manager, 1, replicaOptions{})
	e := k.engine(k.Manager, 0, engineOptions{maxCount: 123, more: []string{"--no-such-flag", "7"}}, r)
	k.inMode(e, r, "RW")
	k.Require(k.report(e).GetSnapshotMaxCount() == 123, "a flag before the unknown one has no effect: the maximal count is %d",
		k.report(e).GetSnapshotMaxCount())
}

func v1EngineUnknownFlagEnds(k v1kit) {
	r := k.replica(k.Manager, 1, replicaOptions{})
	k.engineEnds(engineOptions{more: []string{"--unmap-mark-snap-chain-removed", "--no-such-flag"}}, r)
}

func v1EngineRebuildLimit(k v1kit) {
	r := k.replica(k.Manager, 1, replicaOptions{})
	k.engineEnds(engineOptions{rebuildLimit: -1, more: nil}, r)
}

func v1EngineNoReplica(k v1kit) {
	r := k.replica(k.Manager, 1, replicaOptions{})
	k.stop(r)
	message := k.engineEnds(engineOptions{}, r)
	k.Require(strings.Contains(message, "exit status 61") || strings.Contains(message, "exit status 1"), "the engine ended with %q",
		message)
}

func v1CurrentSizeZero(k v1kit) {
	r := k.replica(k.Manager, 1, replicaOptions{})
	e := k.engine(k.Manager, 0, engineOptions{noCurrent: true}, r)
	k.Require(k.size(e) == k.VolumeSize, "the volume's size is %d, not %d", k.size(e), k.VolumeSize)
}

func v1SizeMismatch(k v1kit) {
	good := k.replica(k.Manager, 1, replicaOptions{})
	other := k.replica(k.Manager, 2, replicaOptions{size: k.VolumeSize + luksHeader})
	e := k.engine(k.Manager, 0, engineOptions{}, good, other)
	k.inMode(e, good, "RW")
	k.inMode(e, other, "ERR")
}

func v1AllSizesMismatch(k v1kit) {
	first := k.replica(k.Manager, 1, replicaOptions{size: k.VolumeSize + luksHeader})
	second := k.replica(k.Manager, 2, replicaOptions{size: k.VolumeSize + luksHeader})
	message := k.engineEnds(engineOptions{}, first, second)
	k.Require(strings.Contains(message, "exit status 61"), "the engine ended with %q", message)
}

func v1EncryptedExpands(k v1kit) {
	r := k.replica(k.Manager, 1, replicaOptions{})
	k.stop(r)
	plain := k.replica(k.Manager, 1, replicaOptions{size: k.VolumeSize + luksHeader})
	message := k.engineEnds(engineOptions{size: k.VolumeSize + luksHeader}, plain)
	k.Require(strings.Contains(message, "exit status 61"), "without --encrypted the engine ended with %q", message)
	k.stop(process{name: k.engineName(0), on: k.Manager})
	k.stop(plain)
	r = k.replica(k.Manager, 1, replicaOptions{size: k.VolumeSize + luksHeader, more: []string{"--encrypted"}})
	e := k.engine(k.Manager, 0, engineOptions{size: k.VolumeSize + luksHeader}, r)
	k.inMode(e, r, "RW")
	k.Require(k.size(e) == k.VolumeSize+luksHeader, "the volume's size is %d, not %d", k.size(e), k.VolumeSize+luksHeader)
}

func v1UnmapFlags(k v1kit) {
	r := k.replica(k.Manager, 1, replicaOptions{more: []string{"--unmap-mark-disk-chain-removed"}})
	e := k.engine(k.Manager, 0, engineOptions{more: []string{"--unmap-mark-snap-chain-removed"}}, r)
	k.inMode(e, r, "RW")
	k.Require(k.report(e).GetUnmapMarkSnapChainRemoved(), "VolumeGet does not report unmap_mark_snap_chain_removed")
}

func v1BackingFile(k v1kit) {
	over := k.replica(k.Manager, 1, replicaOptions{backingFile: k.BackingFile})
	e := k.engine(k.Manager, 0, engineOptions{frontend: k.FrontendV1}, over)
	before, err := k.Content.Read(k.Context(), k.at(e), 0)
	k.Require(err == nil, "reading block 0: %v", err)
	k.Require(before != "", "block 0 reads as zeros: the backing file is not there")
	k.write(e, 0, "over the backing file")
	k.reads(e, 0, "over the backing file")
}

func v1BackingFileTooLarge(k v1kit) {
	name := k.volume + "-r-00000001"
	small := replicaOptions{size: 4096, backingFile: k.BackingFile}
	if _, err := k.create(k.Manager, name, k.ReplicaBinary, 10, k.replicaArguments(name, small)...); err == nil {
		k.ends(k.Manager, name)
	}
}

func v1Salvage(k v1kit) {
	first, second := k.replica(k.Manager, 1, replicaOptions{}), k.replica(k.Manager, 2, replicaOptions{})
	e := k.engine(k.Manager, 0, engineOptions{more: []string{"--salvageRequested"}}, first, second)
	k.Eventually("a replica is in mode RW", func() (bool, string) {
		modes := k.modes(e)
		return modes["tcp://"+first.address] == "RW" || modes["tcp://"+second.address] == "RW", "there is none"
	})
}

func v1NoFrontend(k v1kit) {
	e := k.engine(k.Manager, 0, engineOptions{}, k.replica(k.Manager, 1, replicaOptions{}))
	v := k.report(e)
	k.Require(v.GetEndpoint() == "" && v.GetFrontendState() != "up", "the endpoint is %q, the frontend %s", v.GetEndpoint(),
		v.GetFrontendState())
}
