package instance

import (
	"fmt"

	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/snapshotlimit"
)

// Creation is the request of a creation, with the fields of the instance-manager contract. It has a process (Binary, v1) or an SPDK part
// (v2).
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
	Size                                        volumesize.Backend
	Frontend                                    string
	SalvageRequested                            bool
	UblkQueueDepth, UblkNumberOfQueue, IOQueues int
	SnapshotMaxCount                            int
}

// creation is the request, or why no request is possible.
func creation(w World) (*Creation, *refusal) {
	if r := refuses(w); r != nil {
		return nil, r
	}
	switch {
	case w.frontend():
		return frontend(w), nil
	case w.v2() && w.engine():
		return engineV2(w), nil
	case w.v2():
		return replicaV2(w), nil
	case w.engine():
		return engineV1(w), nil
	}
	return replicaV1(w), nil
}

// refusal is why nothing is created: a reason, and a message with the next step.
type refusal struct{ reason, message string }

func incomplete(format string, args ...any) *refusal {
	return &refusal{ReasonIncomplete, fmt.Sprintf(format, args...)}
}

// refuses checks in this order: missing fields of the object, its Volume, its engine image, its backing image.
func refuses(w World) *refusal {
	for _, check := range []func(World) *refusal{lacking, withoutVolume, withoutImage, withoutBackingImage} {
		if r := check(w); r != nil {
			return r
		}
	}
	return nil
}

func lacking(w World) *refusal {
	switch o := w.Object; {
	case o.Size <= 0:
		return incomplete("It has no size.")
	case w.frontend():
		return lackingFrontend(w)
	case w.engine() && len(o.Engine.Replicas) == 0:
		return incomplete("It has no replicas.")
	case !w.v2() && o.Image == "":
		return incomplete("It has no engine image.")
	case w.replica():
		return lackingReplica(w)
	}
	return nil
}

func lackingFrontend(w World) *refusal {
	switch {
	case !w.v2():
		return incomplete("Only v2 volumes have frontends of their own.")
	case w.Object.Target.Address() == "" || w.Object.Target.Engine == "":
		return incomplete("Its target is not known yet.")
	}
	return nil
}

func lackingReplica(w World) *refusal {
	switch r := w.Object.Replica; {
	case w.v2() && w.DiskName == "":
		return incomplete("Node %s has no disk with UUID %s that is loaded; see its status.diskStatus.", w.Object.NodeID, r.DiskID)
	case !w.v2() && (r.DiskPath == "" || r.Directory == ""):
		return incomplete("It has no data directory.")
	}
	return nil
}

// withoutVolume refuses where the Volume was read and does not exist: whether it is encrypted is not known then.
func withoutVolume(w World) *refusal {
	if !w.VolumeRead || w.Volume != nil {
		return nil
	}
	return &refusal{ReasonVolumeMissing, fmt.Sprintf("Volume %s does not exist, so it is not known whether it is encrypted and what size "+
		"its replicas have.", w.Object.Volume)}
}

// room is how much larger the volume's backends are. Before the Volume was read, no call that depends on it is sent.
func (w World) room() volumesize.Room {
	switch {
	case w.Volume == nil:
		return 0
	case w.v2():
		return volumesize.RoomV2(w.Volume.Encrypted, w.Volume.LUKSLabel)
	}
	return volumesize.RoomV1(w.Volume.Encrypted, w.cli())
}

// backend is the size that its instance is created with.
func (w World) backend() volumesize.Backend { return w.room().Backend(w.Object.Size) }

func (w World) snapshots() int { return snapshotlimit.CountOfSpec(w.Object.SnapshotMaxCount) }
