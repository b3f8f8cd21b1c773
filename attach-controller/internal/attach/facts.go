package attach

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// volumeHead is in every engine's list of snapshots, and none of them.
const volumeHead = v1beta2.VolumeHead

// volumeBlocking are the reasons of a Volume's condition Attached that end only with a change from outside.
var volumeBlocking = []string{
	v1beta2.ReasonNoUsableReplica, v1beta2.ReasonInstanceUnknown, v1beta2.ReasonReplicaNotStarting, v1beta2.ReasonNodeDown,
	v1beta2.ReasonNodeUpgrading,
}

// VolumeOf returns the relevant part of a Volume. Two versions with the same part are the same to this package.
func VolumeOf(v *v1beta2.Volume) Volume {
	out := Volume{
		Name: v.Name, Deleting: v.DeletionTimestamp != nil,
		Spec: Spec{
			NodeID: v.Spec.NodeID, MigrationNodeID: v.Spec.MigrationNodeID,
			DisableFrontend: v.Spec.DisableFrontend, LastAttachedBy: v.Spec.LastAttachedBy,
		},
		Shared:      v1beta2.IsShared(v),
		Migratable:  v.Spec.Migratable,
		StrictLocal: v.Spec.DataLocality == v1beta2.DataLocalityStrictLocal,
		Unfilled:    unfilled(v),
		V2:          v.Spec.DataEngine == v1beta2.DataEngineV2,
		Relocated:   v.Spec.TargetNodeID != "" || v.Status.CurrentTargetNodeID != "", TargetNodeID: v.Spec.TargetNodeID,
		State: v.Status.State, CurrentNodeID: v.Status.CurrentNodeID, CurrentMigrationNodeID: v.Status.CurrentMigrationNodeID,
		FrontendDisabled: v.Status.FrontendDisabled, Faulted: v.Status.Robustness == v1beta2.VolumeRobustnessFaulted,
	}
	out.Upgrading = conditions.Reason(v.Status.Conditions, v1beta2.VolumeAttached) == v1beta2.ReasonNodeUpgrading
	out.Blocker, out.Fault = blockerOf(v), faultOf(v)
	out.MigrationFailed, out.MigrationWaits = migrationFailureOf(v), migrationWaitOf(v)
	return out
}

// unfilled reports whether a volume waits for data from a backup, or from another volume. One that was attached before its filling began
// keeps the data that it has.
func unfilled(v *v1beta2.Volume) bool {
	s := v.Status
	used := v1beta2.EverAttached(v)
	if s.RestoreRequired || v.Spec.FromBackup != "" && !s.RestoreInitiated && !used {
		return true
	}
	from, named := strings.CutPrefix(v.Spec.DataSource, "vol://")
	if !named {
		from, named = strings.CutPrefix(v.Spec.DataSource, "snap://")
	}
	if !named || from == "" {
		return false
	}
	switch s.CloneStatus.State {
	case v1beta2.CloneCopyCompleted, v1beta2.CloneCompleted:
		return false
	case v1beta2.CloneFailed: // without a further attempt it may have been used since
		return s.CloneStatus.NextAllowedAttemptAt != ""
	case "":
		return !used
	}
	return true
}

// blockerOf returns what the volume machine waits for, in its message. A replica that cannot be placed blocks the volume only if it has no
// other replica.
func blockerOf(v *v1beta2.Volume) string {
	attached := conditions.Get(v.Status.Conditions, v1beta2.VolumeAttached)
	if attached == nil || attached.Status != v1beta2.ConditionFalse || !slices.Contains(volumeBlocking, attached.Reason) {
		return ""
	}
	blocker := cmp.Or(attached.Message, attached.Reason)
	placed := conditions.Get(v.Status.Conditions, v1beta2.VolumeScheduled)
	if attached.Reason == v1beta2.ReasonNoUsableReplica && placed != nil && placed.Status == v1beta2.ConditionFalse {
		blocker += " " + cmp.Or(placed.Message, placed.Reason)
	}
	return blocker
}

// migrationFailureOf returns how the second engine of the present migration failed, in the volume machine's message.
func migrationFailureOf(v *v1beta2.Volume) string {
	failure := v.Status.MigrationFailure
	if failure == nil || v.Spec.MigrationNodeID == "" || failure.NodeID != v.Spec.MigrationNodeID {
		return ""
	}
	return fmt.Sprintf("%s Failed attempts: %d; the next one begins at %s.", failure.Message, failure.Count, failure.NextAttemptAt)
}

// migrationWaitOf returns what a volume waits for that is attached and migrates: the volume machine adds it to the condition Attached.
func migrationWaitOf(v *v1beta2.Volume) string {
	attached := conditions.Get(v.Status.Conditions, v1beta2.VolumeAttached)
	if attached == nil || attached.Status != v1beta2.ConditionTrue || v.Spec.MigrationNodeID == "" {
		return ""
	}
	wait, adds := strings.CutPrefix(attached.Message, v1beta2.AttachedTo(v.Status.CurrentNodeID)+" ")
	if !adds {
		return ""
	}
	return wait
}

// faultOf returns why the volume is faulted, in the volume machine's message.
func faultOf(v *v1beta2.Volume) string {
	faulted := conditions.Get(v.Status.Conditions, v1beta2.VolumeFaulted)
	if faulted == nil || faulted.Status != v1beta2.ConditionTrue {
		return ""
	}
	return faulted.Message
}

// AttachmentOf returns the relevant part of a VolumeAttachment.
func AttachmentOf(a *v1beta2.VolumeAttachment) *Attachment {
	return &Attachment{Generation: a.Generation, Tickets: a.Spec.AttachmentTickets, Stored: a.Status}
}

// NodeOf returns the relevant part of a Node.
func NodeOf(n *v1beta2.Node) Node {
	ready, down := conditions.Get(n.Status.Conditions, v1beta2.NodeReady), v1beta2.IsNodeDown(n)
	return Node{
		Down: down, NotReady: !down && ready != nil && ready.Status != v1beta2.ConditionTrue,
		Upgrading: n.Spec.UpgradeRequested, Cordoned: v1beta2.IsNodeCordoned(n),
	}
}

// EngineOf returns the relevant part of an Engine. One that must stop is left over from an earlier migration: it counts on no node,
// whatever it still runs.
func EngineOf(e *v1beta2.Engine) Engine {
	if e.DeletionTimestamp != nil || e.Spec.DesireState != v1beta2.InstanceStateRunning {
		return Engine{}
	}
	out := Engine{Node: e.Spec.NodeID, State: e.Status.CurrentState}
	for name := range e.Status.Snapshots {
		if name == volumeHead {
			continue
		}
		// A sum, so that the order does not matter.
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(name))
		out.Snapshots += hash.Sum64()
	}
	return out
}

// FrontendOf returns the relevant part of an EngineFrontend, as EngineOf does.
func FrontendOf(f *v1beta2.EngineFrontend) Frontend {
	if f.DeletionTimestamp != nil || f.Spec.DesireState != v1beta2.InstanceStateRunning {
		return Frontend{}
	}
	return Frontend{Node: f.Spec.NodeID, State: f.Status.CurrentState}
}

// ReplicaNodesOf returns the nodes of a strict-local volume's data: those of its replicas that did not fail, or, if all failed, of all.
func ReplicaNodesOf(replicas []v1beta2.Replica) []string {
	var good, all []string
	for _, r := range replicas {
		if r.Spec.NodeID == "" || r.DeletionTimestamp != nil || v1beta2.IsSecondProcess(&r) {
			continue
		}
		all = append(all, r.Spec.NodeID)
		if r.Spec.FailedAt == "" {
			good = append(good, r.Spec.NodeID)
		}
	}
	if len(good) > 0 {
		return good
	}
	return all
}
