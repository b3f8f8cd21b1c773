package ticket

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

var now = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

const volumeName = "vol-1"

// change is one difference from the world that basic returns.
type change func(*World)

// basic is a healthy, detached volume with replicas on node-1 and node-2, whose VolumeAttachment has no tickets, and three nodes that are
// up.
func basic(changes ...change) World {
	w := World{
		Now: now,
		Volume: &v1beta2.Volume{
			ObjectMeta: metav1.ObjectMeta{Name: volumeName, UID: "uid-vol-1"},
			Spec:       v1beta2.VolumeSpec{NumberOfReplicas: 2, Size: 10},
			Status:     v1beta2.VolumeStatus{State: v1beta2.VolumeStateDetached, Robustness: v1beta2.VolumeRobustnessUnknown},
		},
		Attachment: &v1beta2.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: volumeName},
			Status: v1beta2.VolumeAttachmentStatus{ObservedGeneration: 1}},
		Engine:   &v1beta2.Engine{Spec: v1beta2.EngineSpec{VolumeSize: 10, Active: true}, Status: v1beta2.EngineStatus{CurrentSize: 10}},
		Replicas: []v1beta2.Replica{replicaOn("node-1"), replicaOn("node-2")},
		Nodes:    map[string]*v1beta2.Node{},
		Owners:   map[Owner]Presence{},
		Settings: Settings{AutoSalvage: true},
	}
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		w.Nodes[name] = &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		ready(name, v1beta2.ConditionTrue, v1beta2.ReasonNodeReady)(&w)
	}
	for _, c := range changes {
		c(&w)
	}
	return w
}

func replicaOn(node string) v1beta2.Replica {
	return v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: "vol-1-r-" + node}, Spec: v1beta2.ReplicaSpec{
		VolumeName: volumeName, NodeID: node, DiskID: "disk-of-" + node, HealthyAt: "2026-09-01T00:00:00Z",
	}}
}

func ready(node string, status v1beta2.ConditionStatus, reason string) change {
	return func(w *World) {
		w.Nodes[node].Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: status, Reason: reason}}
	}
}

func down(node string) change {
	return ready(node, v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeGone)
}

// drained is a node whose replicas leave it because it is cordoned, where they are asked to.
func drained(node string, leaves bool) change {
	return func(w *World) {
		cordon(node)(w)
		w.Nodes[node].Status.AutoEvicting = true
		if leaves {
			leaving(node)(w)
		}
	}
}

func leaving(node string) change {
	return func(w *World) {
		for i := range w.Replicas {
			if w.Replicas[i].Spec.NodeID == node {
				w.Replicas[i].Spec.EvictionRequested = true
			}
		}
	}
}

func cordon(node string) change {
	return func(w *World) {
		w.Nodes[node].Status.Conditions = append(w.Nodes[node].Status.Conditions, v1beta2.Condition{
			Type: v1beta2.NodeSchedulable, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonKubernetesNodeCordoned,
		})
	}
}

func upgrading(node string) change {
	return func(w *World) { w.Nodes[node].Spec.UpgradeRequested = true }
}

func noNodeOf(node string) change { return func(w *World) { delete(w.Nodes, node) } }

// attachedTo is a volume that is up, and wanted there.
func attachedTo(node string) change {
	return func(w *World) {
		w.Volume.Spec.NodeID, w.Volume.Status.CurrentNodeID = node, node
		w.Volume.Status.State, w.Volume.Status.Robustness = v1beta2.VolumeStateAttached, v1beta2.VolumeRobustnessHealthy
	}
}

func robust(value string) change { return func(w *World) { w.Volume.Status.Robustness = value } }

func volume(f func(*v1beta2.Volume)) change { return func(w *World) { f(w.Volume) } }

// failed lets the replica on the node fail.
func failed(node string) change {
	return func(w *World) {
		for i := range w.Replicas {
			if w.Replicas[i].Spec.NodeID == node {
				w.Replicas[i].Spec.FailedAt = "2026-09-01T01:00:00Z"
			}
		}
	}
}

// ticket puts one in; parameters come in pairs.
func ticket(id, attacher, node string, parameters ...string) change {
	return func(w *World) {
		t := v1beta2.AttachmentTicket{ID: id, Type: attacher, NodeID: node, Generation: 1}
		for i := 0; i < len(parameters); i += 2 {
			if t.Parameters == nil {
				t.Parameters = map[string]string{}
			}
			t.Parameters[parameters[i]] = parameters[i+1]
		}
		if w.Attachment.Spec.AttachmentTickets == nil {
			w.Attachment.Spec.AttachmentTickets = map[string]v1beta2.AttachmentTicket{}
		}
		w.Attachment.Spec.AttachmentTickets[id] = t
	}
}

func owner(kind, name string, exists bool, uid types.UID) change {
	return func(w *World) { w.Owners[Owner{kind, name}] = Presence{Exists: exists, UID: uid} }
}

// own is a stored ticket of ours as this package writes it.
func own(attacher, node, frontend string) change {
	return ticket(v1beta2.TicketID(attacher, volumeName), attacher, node, v1beta2.TicketDisableFrontend, frontend,
		v1beta2.TicketOwnerKind, KindVolume, v1beta2.TicketOwnerName, volumeName, v1beta2.TicketOwnerUID, "uid-vol-1")
}

// after is the world once the changes are stored.
func after(w World, changes []Change) World {
	w.Attachment = w.Attachment.DeepCopy()
	for _, c := range changes {
		if w.Attachment.Spec.AttachmentTickets == nil {
			w.Attachment.Spec.AttachmentTickets = map[string]v1beta2.AttachmentTicket{}
		}
		if c.Ticket == nil {
			delete(w.Attachment.Spec.AttachmentTickets, c.ID)
			continue
		}
		w.Attachment.Spec.AttachmentTickets[c.ID] = *c.Ticket
	}
	return w
}

// said formats a change: "+ id @node frontend", "- id Why".
func said(c Change) string {
	if c.Ticket == nil {
		return "- " + c.ID + " " + string(c.Why)
	}
	return "+ " + c.ID + " @" + c.Ticket.NodeID + " " + c.Ticket.Parameters[v1beta2.TicketDisableFrontend]
}
