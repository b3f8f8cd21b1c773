package engine_test

import (
	"fmt"
	"time"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

const (
	gib    = 1 << 30
	rw     = v1beta2.ReplicaModeRW
	wo     = v1beta2.ReplicaModeWO
	failed = v1beta2.ReplicaModeERR
	period = 30 * time.Second
	busy   = time.Second
)

// at is the address of a replica.
func at(name string) string { return fmt.Sprintf("10.0.0.%d:10000", name[0]-'a'+1) }

// world is an engine with these replicas in its spec; the functions below add the parts of the poll.
func world(wanted ...string) engine.World {
	e := &v1beta2.Engine{}
	e.Name, e.Spec.VolumeName, e.Spec.VolumeSize, e.Status.CurrentSize = "vol-e-0", "vol", gib, gib
	e.Spec.ReplicaAddressMap, e.Status.SnapshotMaxCount, e.Spec.Active = map[string]string{}, 250, true
	for _, name := range wanted {
		e.Spec.ReplicaAddressMap[name] = at(name)
	}
	return engine.World{Now: now, Engine: e, Period: period, Busy: busy, Room: new(volumesize.Room),
		Seen:      engine.Seen{Began: now.Add(-time.Second)},
		Snapshots: map[string]v1beta2.SnapshotInfo{"volume-head": {Name: "volume-head"}}}
}

// lists adds a replica to what the engine lists.
func lists(w engine.World, name, mode string) engine.World {
	w.Seen.Replicas = append(w.Seen.Replicas, engine.Replica{Name: name, Address: "tcp://" + at(name), Mode: mode})
	return w
}

func add(name string) engine.Call {
	return engine.Call{Op: engine.OpAdd, Name: name, Address: at(name), Size: gib}
}

func remove(name string) engine.Call {
	return engine.Call{Op: engine.OpRemove, Name: name, Address: "tcp://" + at(name)}
}
