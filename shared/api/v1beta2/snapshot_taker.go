package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NewSnapshot returns the object of a snapshot of the volume as snapshot-controller would complete it, with label, finalizer and owner,
// so that its creation is the only write. Whoever wants the snapshot taken sets spec.createSnapshot.
func NewSnapshot(v *Volume, name string) *Snapshot {
	return &Snapshot{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: v.Namespace, Name: name, Finalizers: []string{Finalizer},
			Labels:          map[string]string{LabelVolume: LabelValue(v.Name)},
			OwnerReferences: []metav1.OwnerReference{OwnedBy(v)},
		},
		Spec: SnapshotSpec{Volume: v.Name},
	}
}

// NewSnapshotBy returns a Snapshot to be taken for work of a controller's own, which deletes it afterwards: SnapshotTaker names it.
func NewSnapshotBy(controller string, v *Volume, name string) *Snapshot {
	s := NewSnapshot(v, name)
	s.Labels[LabelManagedBy], s.Spec.CreateSnapshot = controller, true
	return s
}

// SnapshotTaker is the controller that took the snapshot for work of its own, an upgrade or the copy of a whole volume, and that deletes it
// afterwards; empty: none did. No job counts such a snapshot among those that are kept, and none deletes it.
func SnapshotTaker(s *Snapshot) string {
	switch taker := s.Labels[LabelManagedBy]; taker {
	case ManagedByAttachController, ManagedByUpgradeController:
		return taker
	}
	return ""
}
