// Package podrecovery decides about pods whose Longhorn volume was detached under them, or whose node is down. There are three rules:
//
//	the pod                                   and                                                     the controller does
//	started before remountRequestedAt         it has a controller that the settings do not spare,     deletes it with 30 s of grace
//	                                          and another pod could mount the volume
//	is being deleted, on a node that is down  node-down-pod-deletion-policy covers its controller,    deletes its VolumeAttachments
//	                                          and its grace is over                                   there, then the pod by force
//	waits for a volume on another node        a VolumeAttachment of a node that is down, on which     deletes that VolumeAttachment
//	                                          no pod uses the volume any more, holds it
//
// A mount outlives neither the end of the volume's engine nor a new device: it returns errors until a new pod mounts the volume again. A
// node is down if Longhorn and Kubernetes both report that: see Node. The package neither finds nor deletes pods.
package podrecovery

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
)

// Facts is the input of one decision about a pod.
type Facts struct {
	Now time.Time
	Pod Pod
	// Node is the pod's; it is read only for a pod that is being deleted.
	Node Node
	// Volumes are the Longhorn volumes of the pod's claims, as far as those are bound, in order of their names.
	Volumes []Volume
	// Backend reports whether the Service longhorn-backend leads to a ready pod: the CSI plugin asks it at each mount. It is read only if
	// a volume was detached under its users.
	Backend bool
}

// Pod is a pod with claims.
type Pod struct {
	// Node is where it was scheduled to; empty: nowhere yet.
	Node string
	// Controller is the kind of the owner that replaces the pod, as setting.KindOf writes it; empty: none does.
	Controller string
	// Started is when its kubelet accepted it, and not before Created, as the two times come from two clocks; zero: it is not accepted
	// yet.
	Started time.Time
	// Created is when it was created, by the API server's clock.
	Created time.Time
	// Waits: it is scheduled, and none of its containers has run. Ended: all have, and none runs again.
	Waits, Ended bool
	// DeletedAt is when its grace is over; zero: it is not being deleted. Forced: it was deleted without grace, and waits for its
	// finalizers.
	DeletedAt time.Time
	Forced    bool
}

// Leaving reports whether the pod is being deleted.
func (p Pod) Leaving() bool { return !p.DeletedAt.IsZero() }

// Volume is a Longhorn volume of the pod.
type Volume struct {
	Name string
	// Settings are those for its data engine.
	Settings setting.Values
	// RemountRequestedAt is when it was detached under its users for the last time; zero: never.
	RemountRequestedAt time.Time
	// FirstDeletionAt is when this process deleted a pod for RemountRequestedAt first, by the API server's clock; zero: it did not.
	FirstDeletionAt time.Time
	// Shared: pods reach it through a share. SharedSince is when the serving share was started; zero: none serves.
	Shared      bool
	SharedSince time.Time
	// ManyNodes: Kubernetes attaches it to several nodes at once.
	ManyNodes bool
	// Attachments are the VolumeAttachments of Kubernetes for it, of Longhorn's driver, in order of their names. They are read only for a
	// pod that is being deleted, or waits.
	Attachments []Attachment
}

// Attachment is a VolumeAttachment of Kubernetes.
type Attachment struct {
	Name string
	Node Node
	// Deleting: the attacher drops its finalizer once the volume has left the node.
	Deleting bool
	// Users are the other pods on that node with the same claim.
	Users []User
}

// Node is a node of Kubernetes, and of Longhorn.
type Node struct {
	Name string
	// Down is positive evidence of Longhorn's Node, as of v1beta2.IsNodeDown.
	Down bool
	// Kubernetes is the Kubernetes node, nil: it does not exist there. It is read only if Down is true.
	Kubernetes *Host
}

// Host is a node of Kubernetes.
type Host struct {
	// Ready is the status of its Ready condition, empty: it has none. Since is when that became so, by the clock of its writer; zero:
	// unknown.
	Ready corev1.ConditionStatus
	Since time.Time
	// OutOfService: it has the taint node.kubernetes.io/out-of-service, which declares that the machine is off.
	OutOfService bool
}

// lostFrom reports whether the node is down by what is known now, and since or from when.
func (n Node) lostFrom() (time.Time, bool) {
	k := n.Kubernetes
	switch {
	case !n.Down:
		return time.Time{}, false
	case k == nil:
		return time.Time{}, true
	case k.Ready == corev1.ConditionTrue:
		return time.Time{}, false
	case k.OutOfService, k.Ready == corev1.ConditionUnknown:
		return time.Time{}, true
	case k.Ready != corev1.ConditionFalse || k.Since.IsZero():
		return time.Time{}, false
	}
	return k.Since.Add(v1beta2.KubeletPause), true
}

// User is a pod that is not the one that is decided on.
type User struct {
	Name string
	// Leaves: it ended, or is being deleted. Until is when the grace of one that has not ended is over.
	Leaves bool
	Until  time.Time
}

// FromPod returns the relevant part of a pod.
func FromPod(pod *corev1.Pod) Pod {
	p := Pod{Node: pod.Spec.NodeName, Created: pod.CreationTimestamp.Time, Started: startOf(pod),
		Ended: pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed}
	p.Waits = p.Node != "" && pod.Status.Phase == corev1.PodPending
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		p.Controller = setting.KindOf(owner.APIVersion, owner.Kind)
	}
	if at := pod.DeletionTimestamp; at != nil {
		p.DeletedAt = at.Time
		p.Forced = pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0
	}
	return p
}

// startOf is when a pod's kubelet accepted it, and not before its creation; zero: not yet.
func startOf(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime == nil {
		return time.Time{}
	}
	return later(pod.Status.StartTime.Time, pod.CreationTimestamp.Time)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// FromHost returns the relevant part of a node of Kubernetes; nil: it does not exist.
func FromHost(node *corev1.Node) *Host {
	if node == nil {
		return nil
	}
	h := &Host{OutOfService: slices.ContainsFunc(node.Spec.Taints,
		func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService })}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			h.Ready, h.Since = c.Status, c.LastTransitionTime.Time
		}
	}
	return h
}

// FromUser returns the relevant part of another pod.
func FromUser(pod *corev1.Pod) User {
	p := FromPod(pod)
	u := User{Name: pod.Name, Leaves: p.Ended || p.Leaving()}
	if !p.Ended {
		u.Until = p.DeletedAt
	}
	return u
}

// FromVolume returns the relevant part of a Longhorn volume. share is the pod of its share manager, nil if there is none.
func FromVolume(v *v1beta2.Volume, share *corev1.Pod) Volume {
	out := Volume{Name: v.Name, Shared: v1beta2.IsShared(v)}
	if at, err := time.Parse(time.RFC3339, v.Status.RemountRequestedAt); err == nil {
		out.RemountRequestedAt = at
	}
	if out.Shared && v.Status.ShareState == shareRunning && share != nil && share.DeletionTimestamp == nil {
		out.SharedSince = startOf(share)
	}
	return out
}

// shareRunning is Volume.status.shareState while the share can be mounted.
const shareRunning = "running"
