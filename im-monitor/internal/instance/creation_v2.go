package instance

const (
	replicaPortsV2 = 5
	blockDevice    = "blockdev"
)

func replicaV2(w World) *Creation {
	o := w.Object
	return &Creation{PortCount: replicaPortsV2, SPDK: &SPDK{DiskName: w.DiskName, DiskUUID: o.Replica.DiskID, Size: w.backend(),
		BackingImage: o.Replica.BackingImage, SalvageRequested: o.SalvageRequested, SnapshotMaxCount: w.snapshots()}}
}

func engineV2(w World) *Creation {
	o := w.Object
	depth, queues := w.ublk()
	return &Creation{PortCount: 1, SPDK: &SPDK{Replicas: o.Engine.Replicas, Size: w.backend(), Frontend: w.frontendV2(),
		SalvageRequested: o.SalvageRequested, SnapshotMaxCount: w.snapshots(), UblkQueueDepth: depth, UblkNumberOfQueue: queues}}
}

func frontend(w World) *Creation {
	o := w.Object
	depth, queues := w.ublk()
	return &Creation{PortCount: 1, EngineName: o.Target.Engine, TargetAddress: o.Target.Address(),
		SPDK: &SPDK{Size: w.backend(), Frontend: w.frontendV2(),
			UblkQueueDepth: depth, UblkNumberOfQueue: queues, IOQueues: w.ioQueues()}}
}

// ublk are the depth and the number of queues of a ublk device: those of the object, else those of the settings.
func (w World) ublk() (depth, queues int) {
	depth, queues = w.Object.UblkQueueDepth, w.Object.UblkNumberOfQueue
	if depth == 0 {
		depth = w.Settings.UblkQueueDepth
	}
	if queues == 0 {
		queues = w.Settings.UblkNumberOfQueue
	}
	return depth, queues
}

// ioQueues are those of a block device; 0 leaves the number to the kernel.
func (w World) ioQueues() int {
	switch {
	case w.Object.Frontend != blockDevice || w.Object.DisableFrontend:
		return 0
	case w.Object.Target.IOQueues != 0:
		return w.Object.Target.IOQueues
	}
	return w.Settings.IOQueues
}

// frontendV2 is the server's name of the frontend, the same for an engine and its frontend: with an empty name no target is exported.
func (w World) frontendV2() string {
	if w.Object.DisableFrontend {
		return ""
	}
	switch w.Object.Frontend {
	case blockDevice:
		return "spdk-tcp-blockdev"
	case "nvmf":
		return "spdk-tcp-nvmf"
	}
	return w.Object.Frontend
}
