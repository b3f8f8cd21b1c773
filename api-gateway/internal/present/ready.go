package present

import (
	"cmp"
	"fmt"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// whyNotReady returns the first reason why a workload cannot use the volume, as a sentence; empty if it can.
func whyNotReady(f VolumeFacts) string {
	v := f.Volume
	scheduled := conditions.Get(v.Status.Conditions, v1beta2.VolumeScheduled)
	switch {
	case v.Spec.NodeID == "" && v.Status.State != v1beta2.VolumeStateDetached:
		return fmt.Sprintf("volume %s is %s and wanted on no node: wait until it is detached", v.Name, named(v.Status.State))
	case v.Status.State == v1beta2.VolumeStateDetached && !conditions.IsTrue(v.Status.Conditions, v1beta2.VolumeScheduled) &&
		!hasPlacedReplica(f):
		return fmt.Sprintf("volume %s has replicas without a place: %s", v.Name, messageOf(scheduled))
	case v.Status.Robustness == v1beta2.VolumeRobustnessFaulted:
		return fmt.Sprintf("volume %s is faulted: none of its replicas can serve; see its condition Faulted", v.Name)
	case isClone(v) && v.Status.CloneStatus.State != v1beta2.CloneCompleted && v.Status.CloneStatus.State != v1beta2.CloneCopyCompleted:
		return fmt.Sprintf("volume %s is being filled from %s: its clone is %s", v.Name, v.Spec.DataSource,
			named(v.Status.CloneStatus.State))
	case v.Status.RestoreRequired:
		return fmt.Sprintf("volume %s is being restored from its backup", v.Name)
	}
	return ""
}

// hasPlacedReplica reports whether there are replicas and each has a node.
func hasPlacedReplica(f VolumeFacts) bool {
	for _, r := range f.Replicas {
		if r.Spec.NodeID == "" {
			return false
		}
	}
	return len(f.Replicas) > 0
}

func isClone(v *v1beta2.Volume) bool {
	return strings.HasPrefix(v.Spec.DataSource, "vol://") || strings.HasPrefix(v.Spec.DataSource, "snap://")
}

func messageOf(c *v1beta2.Condition) string {
	if c == nil || c.Message == "" {
		return "attach-controller has not placed them yet"
	}
	return c.Message
}

// named returns a state, or a word for none.
func named(state string) string { return cmp.Or(state, "new") }
