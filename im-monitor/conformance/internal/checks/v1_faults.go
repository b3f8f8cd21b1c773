package checks

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
)

// v1Faults are the checks of what engines make of broken links.
func v1Faults() []suite.Check {
	return []suite.Check{
		found(v1("cut-idle", "an engine without I/O lists a replica in mode RW for long after its link was cut", onSemantics, v1CutIdle,
			suite.SecondManager, suite.Cut), "R7"),
		found(v1("cut-questions", "while a replica in mode RW does not answer, SnapshotList fails, SnapshotPurgeStatus lists an error alone "+
			"for the replica, and ReplicaList and VolumeGet answer", onSemantics, v1CutQuestions, suite.SecondManager, suite.Cut), "B9"),
		found(v1("cut-rebuild-status", "while a replica in mode WO does not answer, ReplicaRebuildingStatus fails as a whole, and "+
			"ReplicaList answers", onSemantics, v1CutRebuildStatus, suite.SecondManager, suite.Cut), "B9"),
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

func v1CutQuestions(k v1kit) {
	e, here, there := k.spread()
	k.inMode(e, there, "RW")
	k.OK(k.purge(e, false), "purging")
	k.Eventually("the purge ends", func() (bool, string) {
		one := k.purgeStatus(e)["tcp://"+there.address]
		return one != nil && !one.GetIsPurging(), one.String()
	})
	k.cut()
	ctx, cancel := context.WithTimeout(k.Context(), time.Minute)
	defer cancel()
	_, err := k.Manager.Proxy.SnapshotList(ctx, k.ref(e))
	k.Fails(err, nil, "listing snapshots while a replica does not answer")
	modes := k.modes(e)
	k.Require(modes["tcp://"+here.address] == "RW" && modes["tcp://"+there.address] == "RW", "the modes are %v", modes)
	k.Require(k.size(e) == k.VolumeSize, "the size is %d", k.size(e))
	one := k.purgeStatus(e)["tcp://"+there.address]
	k.Require(one.GetError() != "" && one.GetState() == "" && !one.GetIsPurging(), "the replica that does not answer has %v", one)
}

// v1CutRebuildStatus leaves a replica of the second node in mode WO, and cuts the node off.
func v1CutRebuildStatus(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	r := k.replica(k.Second, 2, replicaOptions{})
	ctx, cancel := context.WithCancel(k.Context())
	k.Cleanup(func(context.Context) error { cancel(); return nil })
	answer := make(chan error, 1)
	go func() { answer <- k.add(ctx, e, r) }()
	k.inMode(e, r, "WO")
	cancel()
	if err := <-answer; status.Code(err) != codes.Canceled {
		k.NotRun("the rebuild was over before its caller disconnected (%v): give a larger --volume-size", err)
	}
	k.Eventually("nothing is copied", func() (bool, string) {
		s := k.rebuildStatus(e, r)
		return !s.GetIsRebuilding(), s.String()
	})
	k.cut()
	limited, end := context.WithTimeout(k.Context(), time.Minute)
	defer end()
	_, err := k.Manager.Proxy.ReplicaRebuildingStatus(limited, k.ref(e))
	k.Fails(err, nil, "reading the status of rebuilds while a replica does not answer")
	k.Require(k.modes(e)["tcp://"+r.address] == "WO", "the replica is in mode %s", k.modes(e)["tcp://"+r.address])
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
