package cluster

import (
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Exists reports whether the Node exists and is not being deleted.
func (n Node) Exists() bool { return n.Object != nil && n.Object.DeletionTimestamp == nil }

// Down is positive evidence that the node is out of service.
func (n Node) Down() bool { return v1beta2.IsNodeDown(n.Object) }

// Serves reports whether targets can be on the node: it is in service and its instance manager runs.
func (n Node) Serves() bool { return n.Exists() && !n.Down() && n.Running() != nil }

// Running returns the instance manager that runs, nil where none does.
func (n Node) Running() *v1beta2.InstanceManager {
	for _, m := range n.Managers {
		if running(m) {
			return m
		}
	}
	return nil
}

// Runs reports whether the running instance manager is of that image, proven by what it answered.
func (n Node) Runs(image string) bool {
	m := n.Running()
	return m != nil && m.Spec.Image == image && m.Status.APIVersion > 0 &&
		!conditions.IsFalse(m.Status.Conditions, v1beta2.InstanceManagerReachable)
}

// Old returns the instance manager of another image that must be replaced, the running one first; nil if none is left.
func (n Node) Old(image string) *v1beta2.InstanceManager {
	var found *v1beta2.InstanceManager
	for _, m := range n.Managers {
		if m.Spec.Image != image && (found == nil || running(m) && !running(found)) {
			found = m
		}
	}
	return found
}

// Upgraded reports whether nothing is left to do on the node: the image runs, and no other does; or it has no v2 at all.
func (n Node) Upgraded(image string) bool {
	if len(n.Managers) == 0 {
		return true
	}
	for _, m := range n.Managers {
		if m.Spec.Image != image && m.Status.CurrentState != v1beta2.InstanceManagerStateStopped && m.Status.CurrentState != "" {
			return false
		}
	}
	return n.Runs(image)
}

// Manager returns the instance manager with that UID, nil where it is gone.
func (n Node) Manager(ref *v1beta2.InstanceManagerReference) *v1beta2.InstanceManager {
	for _, m := range n.Managers {
		if ref != nil && m.Name == ref.Name && string(m.UID) == ref.UID {
			return m
		}
	}
	return nil
}

// Untouched reports whether the instance manager still runs and its replacement has not begun.
func Untouched(m *v1beta2.InstanceManager) bool { return m != nil && running(m) }

func running(m *v1beta2.InstanceManager) bool {
	return m.DeletionTimestamp == nil && m.Status.CurrentState == v1beta2.InstanceManagerStateRunning
}
