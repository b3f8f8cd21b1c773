package replicacontroller

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/attach-controller/internal/replica"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

// created is emitted on the Volume for each new replica.
func created(r *v1beta2.Replica) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "ReplicaCreated", Action: "PlaceReplica",
		Note: fmt.Sprintf("Replica %s is created on node %s, disk %s.", r.Name, r.Spec.NodeID, r.Spec.DiskPath)}
}

// takenBack is emitted on the Volume when a failed replica is used again.
func takenBack(r *v1beta2.Replica) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "ReplicaTakenBack", Action: "RebuildReplica",
		Note: fmt.Sprintf("Replica %s on node %s had failed at %s; it is rebuilt from what it still has.", r.Name, r.Spec.NodeID,
			r.Spec.FailedAt)}
}

// deleted is emitted on the Volume when a replica is deleted by policy.
func deleted(d replica.Deletion) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "ReplicaDeleted", Action: "TidyReplicas",
		Note: fmt.Sprintf("Replica %s on node %s is deleted: %s.", d.Replica.Name, d.Replica.Spec.NodeID, d.Why)}
}

// nodeGone is emitted on a v1 replica that is released although nobody removed its directory: its node does not exist any more.
func nodeGone(r *v1beta2.Replica) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: v1beta2.ReasonNodeGone, Action: "RemoveReplica",
		Note: fmt.Sprintf("Node %s does not exist any more; its directory %s/replicas/%s, which replica %s had, is out of reach.",
			r.Spec.NodeID, strings.TrimSuffix(r.Spec.DiskPath, "/"), r.Spec.DataDirectoryName, r.Name)}
}

// noPlace is emitted on the Volume when a wanted replica has no place.
func noPlace(c v1beta2.Condition) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: c.Reason, Action: "PlaceReplica", Note: c.Message}
}
