package checks

import (
	"context"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
)

// v1Faults are the checks of what engines make of broken links.
func v1Faults() []suite.Check {
	return []suite.Check{
		found(v1("cut-idle", "an engine without I/O lists a replica in mode RW for long after its link was cut", onSemantics, v1CutIdle,
			suite.SecondManager, suite.Cut), "R7"),
		v1("cut-io", "I/O after a link was cut is acknowledged once the replica is in mode ERR, and no write is lost", onSemantics, v1CutIO,
			suite.SecondManager, suite.Cut, suite.Content),
	}
}

// spread is a volume with one replica on each of two nodes.
func (k v1kit) spread() (e, here, there process) {
	here, there = k.replica(k.Manager, 1, replicaOptions{}), k.replica(k.Second, 2, replicaOptions{})
	o := engineOptions{}
	if k.Content != nil {
		o.frontend = k.FrontendV1
	}
	return k.engine(k.Manager, 0, o, here, there), here, there
}

func (k v1kit) cut() {
	k.Cleanup(func(ctx context.Context) error { return k.Lab.Join(ctx, k.Second) })
	err := k.Lab.Cut(k.Context(), k.Second)
	k.Require(err == nil, "cutting %s off: %v", k.Second.Host, err)
}

func v1CutIdle(k v1kit) {
	e, _, there := k.spread()
	k.inMode(e, there, "RW")
	k.cut()
	k.NeverFor(k.Outage, "the replica leaves mode RW", func() (bool, string) {
		mode := k.modes(e)["tcp://"+there.address]
		return mode != "RW", "mode " + mode
	})
}

func v1CutIO(k v1kit) {
	e, _, there := k.spread()
	k.write(e, 1, "before")
	k.cut()
	k.write(e, 2, "after")
	k.inMode(e, there, "ERR")
	k.reads(e, 1, "before")
	k.reads(e, 2, "after")
}
