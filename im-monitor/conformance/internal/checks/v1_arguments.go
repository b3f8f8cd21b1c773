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
		v1("engine-rebuild-limit-zero", "a rebuild limit of 0 ends an engine at once", onCreating, v1EngineRebuildLimit),
		assumed(v1("engine-no-replica", "an engine none of whose replicas can be used ends with exit status 61 or 1", onStart, v1EngineNoReplica),
			"an engine over a replica that is gone ends with exit status 61 or 1: the contract has 1 where the replica is Unavailable"),
		v1("salvage", "with --salvageRequested an engine runs over the replicas that it has", onStart, v1Salvage),
		v1("no-frontend", "an engine without a frontend runs, and reports no endpoint", onCreating, v1NoFrontend),
	}
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

func v1EngineRebuildLimit(k v1kit) {
	r := k.replica(k.Manager, 1, replicaOptions{})
	k.engineEnds(engineOptions{rebuildLimit: -1, more: nil}, r)
}

func v1EngineNoReplica(k v1kit) {
	r := k.replica(k.Manager, 1, replicaOptions{})
	k.stop(r)
	message := k.engineEnds(engineOptions{}, r)
	k.Require(strings.Contains(message, "exit status 61") || strings.Contains(message, "exit status 1"), "the engine ended with %q", message)
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
