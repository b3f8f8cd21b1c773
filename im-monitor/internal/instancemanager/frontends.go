package instancemanager

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// Frontend is one engine frontend of the list, with what lists show of the target that its record names.
type Frontend struct {
	Name, State string
	// Kind is the wire's word for what it shows.
	Kind string
	// ActivePath is the address (ip:port) that it leads to; Promoted reports that no path but that one carries I/O.
	ActivePath string
	Promoted   bool
	// TargetNode is the node of the instance manager at that address; empty where there is none that is in service.
	TargetNode string
	// Serves reports whether a list of that instance manager shows an engine that runs at that address. For the deletion of a pod that list
	// was begun for this very purpose.
	Serves bool
}

// frontendUblk is the frontend of which no server keeps a record.
const frontendUblk = "ublk"

// leaves reports why the frontend would not outlive the pod; empty where it would. The server that follows dials the target on record once:
// where that does not answer the workload's device is gone.
//
// Checked are the record's place, that the target was promoted, and that its engine runs on another node in a list begun a moment before.
// Taken for granted is that this node reaches that address: it does as long as I/O goes there, which the optimized path reports.
func (f Frontend) leaves(w World) string {
	switch {
	case w.takesDevices() != "":
		return fmt.Sprintf("engine frontend %s runs, and %s", f.Name, w.takesDevices())
	case !w.keepsRecords():
		return fmt.Sprintf("engine frontend %s is not on record on the host (the pod lacks the mount at /metadata); detach its volume",
			f.Name)
	case f.Kind == frontendUblk:
		return fmt.Sprintf("engine frontend %s is ublk, which does not outlive the pod; detach its volume", f.Name)
	case f.State != v1beta2.InstanceStateRunning:
		return fmt.Sprintf("engine frontend %s is %s, and only a running one outlives the pod", f.Name, f.State)
	case f.ActivePath == "" || !f.Promoted:
		return fmt.Sprintf("engine frontend %s is on its way to another target", f.Name)
	case f.TargetNode == "":
		return fmt.Sprintf("engine frontend %s leads to %s, where no instance manager of a node in service is", f.Name, f.ActivePath)
	case f.TargetNode == w.InstanceManager.Spec.NodeID:
		return fmt.Sprintf("engine frontend %s leads to %s on the same node", f.Name, f.ActivePath)
	case !f.Serves:
		return fmt.Sprintf("engine frontend %s leads to %s on node %s, and no new list shows an engine that runs there", f.Name,
			f.ActivePath, f.TargetNode)
	}
	return ""
}

// keepsRecords reports whether the pod has a directory of the host at /metadata. Without a pod, and for v1, there is nothing to keep.
func (w World) keepsRecords() bool {
	if w.Pod == nil || !w.v2() {
		return true
	}
	for _, c := range w.Pod.Spec.Containers {
		for _, m := range c.VolumeMounts {
			if HoldsRecords(m) && onHost(w.Pod, m.Name) {
				return true
			}
		}
	}
	return false
}

// HoldsRecords reports whether a mount is where a v2 server keeps its records of engine frontends.
func HoldsRecords(m corev1.VolumeMount) bool {
	return path.Clean(m.MountPath) == path.Clean(metadataDirectory) && !m.ReadOnly
}

func capitalize(sentence string) string { return strings.ToUpper(sentence[:1]) + sentence[1:] }

func onHost(pod *corev1.Pod, volume string) bool {
	for _, v := range pod.Spec.Volumes {
		if v.Name == volume {
			return v.HostPath != nil
		}
	}
	return false
}

// frontendRecords is nil where there are no frontends to keep.
func frontendRecords(w World) *v1beta2.Condition {
	if w.Pod == nil || !w.v2() {
		return nil
	}
	c := v1beta2.Condition{Type: v1beta2.InstanceManagerFrontendRecords, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonOnHost,
		Message: "The records of engine frontends are on the host: frontends outlive the pod."}
	switch takes := w.takesDevices(); {
	case takes != "":
		c.Status, c.Reason, c.Message = v1beta2.ConditionFalse, v1beta2.ReasonNotOnHost, capitalize(takes)+"."
	case !w.keepsRecords():
		c.Status, c.Reason = v1beta2.ConditionFalse, v1beta2.ReasonNotOnHost
		c.Message = fmt.Sprintf("The pod mounts no directory of the host at /metadata: its engine frontends are lost with it. Detach the "+
			"volumes that use node %s once; the pod is then created again, with the mount.", w.InstanceManager.Spec.NodeID)
	}
	return &c
}
