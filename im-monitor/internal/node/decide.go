package node

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	sharedsetting "drover.dev/drover/shared/setting"
)

// World is everything that the decision about one node is made from.
type World struct {
	Now        time.Time
	Name       string
	Kubernetes *Kubernetes
	// Node is the Longhorn Node, nil where there is none.
	Node     *v1beta2.Node
	Managers []Manager
	Settings setting.Values
}

// Verdict is what must be done. Its zero value means that all is as it should be.
type Verdict struct {
	// Create is a Node to be created.
	Create *v1beta2.Node
	// AddFinalizer and DropFinalizer concern v1beta2.Finalizer.
	AddFinalizer, DropFinalizer bool
	// Status is the full set of what im-monitor owns in Node.status beside disks; nil where it is right already.
	Status *Status
	Events []events.Event
}

// Status is im-monitor's part of Node.status.
type Status struct {
	Conditions   []v1beta2.Condition
	Region, Zone string
	// DisksReady and Storage are those of Disks.
	DisksReady, Storage string
	// AutoEvicting: the node is cordoned and up, and the setting node-drain-policy has replicas leave it.
	AutoEvicting bool
}

// Types are the conditions of a Node that are written here.
func Types() []string {
	return []string{v1beta2.NodeReady, v1beta2.NodeSchedulable, v1beta2.NodeRemoved}
}

// Decide reports what must become of the node.
func Decide(w World) Verdict {
	if w.Node == nil {
		if w.Kubernetes == nil || !w.Kubernetes.welcomes(w.Settings) {
			return Verdict{}
		}
		return Verdict{Create: newNode(w.Name, w.Settings.DefaultDisk)}
	}
	if w.Node.DeletionTimestamp != nil {
		return remove(w)
	}
	v := Verdict{AddFinalizer: !slices.Contains(w.Node.Finalizers, v1beta2.Finalizer)}
	v.observe(w, ready(w), schedulable(w))
	return v
}

// newNode returns the Node of a Kubernetes node. Unless labels decide on default disks, it carries the request for its default disk. The
// disk-controller of the node serves that once: a Node that loses its disks later gets no other.
func newNode(name string, s sharedsetting.DefaultDisk) *v1beta2.Node {
	n := &v1beta2.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{v1beta2.Finalizer}},
		Spec:       v1beta2.NodeSpec{Name: name, AllowScheduling: true},
	}
	if !s.LabeledOnly {
		n.Annotations = map[string]string{
			v1beta2.AnnotationDefaultDisk: v1beta2.DefaultDiskRequest{Path: s.Path, ReservedPercent: s.ReservedPercent}.String()}
	}
	return n
}

// remove lets a Node that someone deleted go once nothing of it is left. While its Kubernetes node takes pods, removal
// would only be followed by creation, so that one must be gone or cordoned first.
func remove(w World) Verdict {
	if !slices.Contains(w.Node.Finalizers, v1beta2.Finalizer) {
		return Verdict{}
	}
	waiting := v1beta2.Condition{Type: v1beta2.NodeRemoved, Status: v1beta2.ConditionFalse}
	switch {
	case w.Kubernetes != nil && !w.Kubernetes.Cordoned:
		waiting.Reason = v1beta2.ReasonKubernetesNodeInService
		waiting.Message = fmt.Sprintf("The Kubernetes node %s exists and takes pods: drain and cordon it, or delete it; then this Node "+
			"goes.", w.Name)
	case len(w.Managers) > 0:
		waiting.Reason = v1beta2.ReasonInstanceManagersRemain
		waiting.Message = fmt.Sprintf("Waiting for instance managers to become empty and go: %s. Detach the volumes and remove the "+
			"replicas that still run there.", names(w.Managers))
	default:
		return Verdict{DropFinalizer: true}
	}
	var v Verdict
	v.observe(w, ready(w), schedulable(w), waiting)
	return v
}

// observe sets the status where it differs, and reports an event where readiness changed.
func (v *Verdict) observe(w World, wanted ...v1beta2.Condition) {
	old := conditions.Owned(w.Node.Status.Conditions, Types()...)
	status := Status{Conditions: old, Region: w.Node.Status.Region, Zone: w.Node.Status.Zone}
	if w.Kubernetes != nil {
		status.Region = w.Kubernetes.Labels[corev1.LabelTopologyRegion]
		status.Zone = w.Kubernetes.Labels[corev1.LabelTopologyZone]
	}
	status.DisksReady, status.Storage = Disks(w.Node)
	status.AutoEvicting = w.Settings.DrainPolicy.Evicts() && !w.Kubernetes.Down() && w.Kubernetes.Cordoned
	for _, c := range wanted {
		status.Conditions = conditions.Set(status.Conditions, c, w.Now)
	}
	current := w.Node.Status
	if conditions.Equal(old, status.Conditions) && status.Region == current.Region && status.Zone == current.Zone &&
		status.DisksReady == current.DisksReady && status.Storage == current.Storage && status.AutoEvicting == current.AutoEvicting {
		return
	}
	v.Status = &status
	was, is := conditions.Get(old, v1beta2.NodeReady), conditions.Get(status.Conditions, v1beta2.NodeReady)
	if was == nil || was.Status != is.Status || was.Reason != is.Reason {
		v.Events = append(v.Events, readinessChanged(*is))
	}
}

func names(managers []Manager) string {
	list := make([]string, 0, len(managers))
	for _, m := range managers {
		list = append(list, m.Name)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
