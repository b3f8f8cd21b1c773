package checks

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
)

// v1Rebuilds are the checks of rebuilds.
func v1Rebuilds() []suite.Check {
	return []suite.Check{
		v1("rebuild", "ReplicaAdd answers when the rebuild is done: the replica is in mode RW, and a system snapshot is left", onSemantics,
			v1Rebuild),
		v1("rebuild-content", "a rebuilt replica alone serves what was written before, during and after the rebuild", onSemantics,
			v1RebuildContent, suite.Content),
		found(v1("rebuild-status", "ReplicaRebuildingStatus has a replica in mode WO under tcp://ip:port, and none in mode RW", onSemantics,
			v1RebuildStatus), "K3"),
		found(v1("rebuild-caller-gone", "when the caller of ReplicaAdd disconnects during the copy the data is copied, the status is "+
			"complete, and the replica stays in mode WO", onLimits, v1CallerGone), "R7", "K11"),
		found(v1("rebuild-caller-gone-before", "when the caller of ReplicaAdd disconnects before the copy begins nothing is copied, the "+
			"status stays empty, and the replica stays in mode WO", onLimits, v1CallerGoneBefore), "K2", "K11"),
		found(v1("rebuild-caller-gone-again", "a replica that was left in mode WO is removed and added again, and is then in mode RW with "+
			"all content",
			onLimits, v1CallerGoneAgain, suite.Content), "R7"),
		found(v1("rebuild-caller-gone-restart", "a replica that was left in mode WO is left out by the next engine", onLimits,
			v1CallerGoneRestart), "R7"),
		found(v1("rebuild-caller-gone-alone", "a replica that was left in mode WO is in mode RW in the next engine if that gets no other "+
			"address", onLimits, v1CallerGoneAlone), "K11"),
		v1("rebuild-verify", "ReplicaVerifyRebuild sets a replica that was left in mode WO to RW", onLimits, v1RebuildVerify),
		assumed(v1("rebuild-one-at-a-time", "a second ReplicaAdd during a rebuild is refused", onLimits, v1RebuildOne),
			"the refusal has no fixed text or code"),
		v1("rebuild-no-removal", "SnapshotRemove and SnapshotPurge are refused during a rebuild", onLimits, v1RebuildNoRemoval),
		v1("rebuild-add-existing", "ReplicaAdd of a replica that the engine has is refused", onSemantics, v1RebuildExisting),
		v1("rebuild-unreachable", "ReplicaAdd of an address where nothing listens is refused", onSemantics, v1RebuildUnreachable),
	}
}

// add adds a replica with a caller that may disconnect.
func (k v1kit) add(ctx context.Context, e, r process) error {
	_, err := k.Manager.Proxy.ReplicaAdd(ctx, &imrpc.EngineReplicaAddRequest{ProxyEngineRequest: k.ref(e),
		ReplicaAddress: "tcp://" + r.address,
		ReplicaName:    r.name, Size: k.VolumeSize, CurrentSize: k.VolumeSize, FastSync: true, FileSyncHttpClientTimeout: 30,
		GrpcTimeoutSeconds: 3600})
	return err
}

// rebuilt adds a new replica and waits for its rebuild.
func (k v1kit) rebuilt(e process, number int) process {
	r := k.replica(k.Manager, number, replicaOptions{})
	k.OK(k.add(k.Context(), e, r), "adding replica %s", r.name)
	k.inMode(e, r, "RW")
	return r
}

// rebuilding adds a new replica, and returns during the rebuild: leave disconnects the caller, wait returns what it was answered.
func (k v1kit) rebuilding(e process, number int) (r process, leave func(), wait func() error) {
	r = k.replica(k.Manager, number, replicaOptions{})
	ctx, cancel := context.WithCancel(k.Context())
	k.Cleanup(func(context.Context) error { cancel(); return nil })
	answer := make(chan error, 1)
	go func() { answer <- k.add(ctx, e, r) }()
	k.Eventually("the rebuild begins", func() (bool, string) {
		if k.modes(e)["tcp://"+r.address] == "WO" {
			return true, ""
		}
		select {
		case err := <-answer:
			k.OK(err, "adding replica %s", r.name)
			k.NotRun("the rebuild was over before it was seen: give a larger --volume-size")
		default:
		}
		return false, "mode " + k.modes(e)["tcp://"+r.address]
	})
	return r, cancel, func() error { return <-answer }
}

func (k v1kit) rebuildStatus(e, r process) *ptypes.ReplicaRebuildStatusResponse {
	out, err := k.Manager.Proxy.ReplicaRebuildingStatus(k.Context(), k.ref(e))
	k.OK(err, "reading the status of rebuilds")
	return out.GetStatus()["tcp://"+r.address]
}

// stranded disconnects a rebuild's caller during the copy, and returns when the copy is complete.
func (k v1kit) stranded(e process, number int) process {
	r, leave, wait := k.rebuilding(e, number)
	k.Eventually("the copy begins", func() (bool, string) {
		s := k.rebuildStatus(e, r)
		return s == nil || s.GetState() != "", s.String()
	})
	leave()
	if err := wait(); status.Code(err) != codes.Canceled {
		k.NotRun("the rebuild was over before its caller disconnected (%v): give a larger --volume-size", err)
	}
	k.Eventually("the status is complete", func() (bool, string) {
		s := k.rebuildStatus(e, r)
		return s.GetState() == "complete" && s.GetProgress() == 100 && !s.GetIsRebuilding(), s.String()
	})
	return r
}

func v1Rebuild(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	r := k.replica(k.Manager, 2, replicaOptions{})
	k.OK(k.add(k.Context(), e, r), "adding a replica")
	k.Require(k.modes(e)["tcp://"+r.address] == "RW", "after the answer the replica is in mode %s", k.modes(e)["tcp://"+r.address])
	k.Require(len(systemSnapshots(k.snapshots(e))) == 1, "there are %d system snapshots", len(systemSnapshots(k.snapshots(e))))
}

func v1RebuildContent(k v1kit) {
	e, replicas := k.served(1, engineOptions{})
	k.write(e, 1, "before")
	r, _, wait := k.rebuilding(e, 2)
	k.write(e, 2, "during")
	k.OK(wait(), "rebuilding")
	k.write(e, 3, "after")
	k.stop(e)
	k.stop(replicas[0])
	e = k.engine(k.Manager, 1, engineOptions{frontend: k.FrontendV1}, r)
	k.reads(e, 1, "before")
	k.reads(e, 2, "during")
	k.reads(e, 3, "after")
}

func v1RebuildStatus(k v1kit) {
	e, replicas := k.served(1, engineOptions{})
	r, _, wait := k.rebuilding(e, 2)
	k.Eventually("the copy begins", func() (bool, string) {
		s := k.rebuildStatus(e, r)
		if s == nil {
			k.OK(wait(), "adding replica %s", r.name)
			k.NotRun("the rebuild was over before its status was seen: give a larger --volume-size")
		}
		return s.GetState() != "", s.String()
	})
	s := k.rebuildStatus(e, r)
	k.Require(s == nil || s.GetFromReplicaAddress() == "tcp://"+replicas[0].address || len(s.GetFromReplicaAddressList()) > 0,
		"the status names no source: %v", s)
	k.OK(wait(), "adding replica %s", r.name)
	k.inMode(e, r, "RW")
	s = k.rebuildStatus(e, r)
	k.Require(s == nil, "a replica in mode RW has the status %v", s)
}

// v1CallerGoneBefore tries again if the copy had begun before the caller was gone.
func v1CallerGoneBefore(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	for number := 2; number < 10; number++ {
		r, leave, wait := k.rebuilding(e, number)
		leave()
		if err := wait(); status.Code(err) == codes.Canceled && k.rebuildStatus(e, r).GetState() == "" {
			k.Never("the replica leaves mode WO, or its status changes", func() (bool, string) {
				mode, s := k.modes(e)["tcp://"+r.address], k.rebuildStatus(e, r)
				return mode != "WO" || s == nil || s.GetState() != "" || s.GetIsRebuilding() || s.GetProgress() != 0, mode + " " + s.String()
			})
			return
		}
		k.Eventually("the copy ends", func() (bool, string) {
			s := k.rebuildStatus(e, r)
			return !s.GetIsRebuilding(), s.String()
		})
		k.OK(k.remove(e, r), "removing the replica")
		k.stop(r)
	}
	k.NotRun("the copy had begun each time before the caller was gone")
}

func v1CallerGone(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	r := k.stranded(e, 2)
	k.Never("the replica leaves mode WO", func() (bool, string) {
		mode := k.modes(e)["tcp://"+r.address]
		return mode != "WO", "mode " + mode
	})
}

func v1CallerGoneAgain(k v1kit) {
	e, replicas := k.served(1, engineOptions{})
	k.write(e, 1, "before")
	r := k.stranded(e, 2)
	k.write(e, 2, "stranded")
	k.OK(k.remove(e, r), "removing the replica")
	k.stop(r)
	r = k.replica(k.Manager, 2, replicaOptions{})
	k.OK(k.add(k.Context(), e, r), "adding it again")
	k.inMode(e, r, "RW")
	k.stop(e)
	k.stop(replicas[0])
	e = k.engine(k.Manager, 1, engineOptions{frontend: k.FrontendV1}, r)
	k.reads(e, 1, "before")
	k.reads(e, 2, "stranded")
}

func v1CallerGoneRestart(k v1kit) {
	e, replicas := k.served(1, engineOptions{})
	r := k.stranded(e, 2)
	k.stop(e)
	e = k.engine(k.Manager, 1, engineOptions{}, replicas[0], r)
	k.inMode(e, replicas[0], "RW")
	k.inMode(e, r, "ERR")
}

func v1CallerGoneAlone(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	r := k.stranded(e, 2)
	k.stop(e)
	k.inMode(k.engine(k.Manager, 1, engineOptions{}, r), r, "RW")
}

func v1RebuildVerify(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	r := k.stranded(e, 2)
	_, err := k.Manager.Proxy.ReplicaVerifyRebuild(k.Context(), &imrpc.EngineReplicaVerifyRebuildRequest{ProxyEngineRequest: k.ref(e),
		ReplicaAddress: "tcp://" + r.address, ReplicaName: r.name})
	k.OK(err, "verifying the rebuild")
	k.inMode(e, r, "RW")
}

func v1RebuildOne(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	_, _, wait := k.rebuilding(e, 2)
	third := k.replica(k.Manager, 3, replicaOptions{})
	k.duringRebuild(e, func() { k.Fails(k.add(k.Context(), e, third), nil, "adding another replica during a rebuild") })
	k.OK(wait(), "rebuilding")
}

func v1RebuildNoRemoval(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	k.taken(e, "first", "second")
	_, _, wait := k.rebuilding(e, 2)
	k.duringRebuild(e, func() { k.Fails(k.removeSnapshot(e, "first"), nil, "removing a snapshot during a rebuild") })
	k.duringRebuild(e, func() { k.Fails(k.purge(e, false), nil, "purging during a rebuild") })
	k.OK(wait(), "rebuilding")
}

// duringRebuild does something, unless the rebuild is over by then.
func (k v1kit) duringRebuild(e process, do func()) {
	for _, mode := range k.modes(e) {
		if mode == "WO" {
			do()
			return
		}
	}
	k.NotRun("the rebuild was over too soon: give a larger --volume-size")
}

func v1RebuildExisting(k v1kit) {
	e, replicas := k.served(2, engineOptions{})
	k.Fails(k.add(k.Context(), e, replicas[1]), nil, "adding a replica that is there")
	k.inMode(e, replicas[1], "RW")
}

func v1RebuildUnreachable(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	ctx, cancel := context.WithTimeout(k.Context(), time.Minute)
	defer cancel()
	k.Fails(k.add(ctx, e, process{name: k.volume + "-r-nobody", address: k.Manager.Host + ":1"}), nil,
		"adding an address where nothing listens")
}
