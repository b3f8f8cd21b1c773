package instancecontroller

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// read takes from an object what package instance knows of it.
func read(o client.Object) (instance.Object, instance.Status) {
	var object instance.Object
	var status instance.Status
	switch o := o.(type) {
	case *v1beta2.Engine:
		object, status = engineObject(o), engineStatus(o)
	case *v1beta2.EngineFrontend:
		object, status = frontendObject(o), frontendStatus(o)
	case *v1beta2.Replica:
		object, status = replicaObject(o), replicaStatus(o)
	}
	list := conditionsOf(o)
	status.Creation = problem(list, v1beta2.InstanceCreation, v1beta2.ConditionFalse)
	status.BackingImage = problem(list, v1beta2.WaitForBackingImage, v1beta2.ConditionTrue)
	status.Switching = problem(list, v1beta2.FrontendSwitchover, v1beta2.ConditionFalse)
	object.Name, object.Deleting = o.GetName(), o.GetDeletionTimestamp() != nil
	if object.DataEngine == "" {
		object.DataEngine = v1beta2.DataEngineV1
	}
	return object, status
}

func engineObject(e *v1beta2.Engine) instance.Object {
	s := &e.Spec
	return instance.Object{
		Kind: v1beta2.InstanceTypeEngine, Volume: s.VolumeName, NodeID: s.NodeID, Image: s.Image, DataEngine: s.DataEngine,
		Running: s.DesireState == v1beta2.InstanceStateRunning, Active: s.Active, Size: volumesize.Net(s.VolumeSize),
		SalvageRequested: s.SalvageRequested,
		SnapshotMaxCount: s.SnapshotMaxCount, SnapshotMaxSize: s.SnapshotMaxSize, RevisionCounterDisabled: s.RevisionCounterDisabled,
		Frontend: s.Frontend, DisableFrontend: s.DisableFrontend, UblkQueueDepth: s.UblkQueueDepth, UblkNumberOfQueue: s.UblkNumberOfQueue,
		Engine: instance.EngineSpec{Replicas: s.ReplicaAddressMap, CurrentSize: volumesize.Net(e.Status.CurrentSize),
			UnmapMarkRemoved: s.UnmapMarkSnapChainRemovedEnabled, RebuildConcurrency: s.RebuildConcurrentSyncLimit},
	}
}

func engineStatus(e *v1beta2.Engine) instance.Status {
	s := &e.Status
	return instance.Status{
		State: s.CurrentState, Starting: s.Starting, Started: s.Started, InstanceManager: s.InstanceManagerName, Image: s.CurrentImage,
		IP: s.IP, StorageIP: s.StorageIP, Port: s.Port, UUID: s.UUID, UblkID: s.UblkID, Endpoint: s.Endpoint,
		SalvageExecuted: s.SalvageExecuted, NodeDown: nodeDownReason(s.Conditions),
	}
}

func frontendObject(f *v1beta2.EngineFrontend) instance.Object {
	s := &f.Spec
	size := s.Size
	if size == 0 {
		size = s.VolumeSize
	}
	return instance.Object{
		Kind: v1beta2.InstanceTypeEngineFrontend, Volume: s.VolumeName, NodeID: s.NodeID, Image: s.Image, DataEngine: s.DataEngine,
		Running: s.DesireState == v1beta2.InstanceStateRunning, Active: s.Active, Size: volumesize.Net(size),
		SalvageRequested: s.SalvageRequested,
		Frontend:         s.Frontend, DisableFrontend: s.DisableFrontend, UblkQueueDepth: s.UblkQueueDepth,
		UblkNumberOfQueue: s.UblkNumberOfQueue,
		Target:            instance.TargetSpec{Engine: s.EngineName, IP: s.TargetIP, Port: s.TargetPort, IOQueues: s.NvmeTCPNrIOQueues},
		Suspend:           s.SuspendRequestedAt,
	}
}

func frontendStatus(f *v1beta2.EngineFrontend) instance.Status {
	s := &f.Status
	return instance.Status{
		State: s.CurrentState, Starting: s.Starting, Started: s.Started, InstanceManager: s.InstanceManagerName, Image: s.CurrentImage,
		IP: s.IP, StorageIP: s.StorageIP, Port: s.Port, UUID: s.UUID, UblkID: s.UblkID, Endpoint: s.Endpoint,
		SalvageExecuted: s.SalvageExecuted, ActivePath: s.ActivePath, PreferredPath: s.PreferredPath, Paths: s.Paths,
		Switchover: switchover(s), TargetIP: s.TargetIP, TargetPort: s.TargetPort, Size: volumesize.Net(s.CurrentSize),
		Suspended: s.SuspendedAt,
		NodeDown:  nodeDownReason(s.Conditions),
	}
}

func switchover(s *v1beta2.EngineFrontendStatus) instance.Switchover {
	o := s.Switchover
	return instance.Switchover{Phase: s.SwitchoverPhase, Accepted: o.Accepted, Engine: o.EngineName, UID: o.EngineUID, IP: o.TargetIP,
		Port:      o.TargetPort,
		OldClosed: o.OldTargetClosed, Unanswered: o.Unanswered, Since: o.Since}
}

func replicaObject(r *v1beta2.Replica) instance.Object {
	s := &r.Spec
	hasData := s.HealthyAt != "" && s.FailedAt == ""
	return instance.Object{
		Kind: v1beta2.InstanceTypeReplica, Volume: s.VolumeName, NodeID: s.NodeID, Image: s.Image, DataEngine: s.DataEngine,
		Running: s.DesireState == v1beta2.InstanceStateRunning, Active: s.Active, Size: volumesize.Net(s.VolumeSize),
		SalvageRequested: s.SalvageRequested, Kept: hasData && !v1beta2.RemovalBegan(r) &&
			conditions.IsFalse(r.Status.Conditions, v1beta2.ReplicaDataRemovalApproved),
		SnapshotMaxCount: s.SnapshotMaxCount, SnapshotMaxSize: s.SnapshotMaxSize, RevisionCounterDisabled: s.RevisionCounterDisabled,
		Replica: instance.ReplicaSpec{DiskID: s.DiskID, DiskPath: s.DiskPath, Directory: s.DataDirectoryName, BackingImage: s.BackingImage,
			UnmapMarkRemoved: s.UnmapMarkDiskChainRemovedEnabled, HasData: hasData},
	}
}

func replicaStatus(r *v1beta2.Replica) instance.Status {
	s := &r.Status
	return instance.Status{
		State: s.CurrentState, Starting: s.Starting, Started: s.Started, InstanceManager: s.InstanceManagerName, Image: s.CurrentImage,
		IP: s.IP, StorageIP: s.StorageIP, Port: s.Port, UUID: s.UUID, UblkID: s.UblkID,
		SalvageExecuted: s.SalvageExecuted, NodeDown: nodeDownReason(s.Conditions),
	}
}

func conditionsOf(o client.Object) []v1beta2.Condition {
	switch o := o.(type) {
	case *v1beta2.Engine:
		return o.Status.Conditions
	case *v1beta2.EngineFrontend:
		return o.Status.Conditions
	case *v1beta2.Replica:
		return o.Status.Conditions
	}
	return nil
}

// problem is what a condition reports while it has the status that is bad.
func problem(list []v1beta2.Condition, kind string, bad v1beta2.ConditionStatus) instance.Problem {
	if c := conditions.Get(list, kind); c != nil && c.Status == bad {
		return instance.Problem{Reason: c.Reason, Message: c.Message}
	}
	return instance.Problem{}
}

func nodeDownReason(list []v1beta2.Condition) string {
	if c := conditions.Get(list, v1beta2.InstanceNodeDown); c != nil && c.Status == v1beta2.ConditionTrue {
		return c.Reason
	}
	return ""
}
