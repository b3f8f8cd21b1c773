package v1beta2

// SnapshotTaker is the controller that took the snapshot for work of its own, an upgrade or the copy of a whole volume, and that deletes it
// afterwards; empty: none did. No job counts such a snapshot among those that are kept, and none deletes it.
func SnapshotTaker(s *Snapshot) string {
	switch taker := s.Labels[LabelManagedBy]; taker {
	case ManagedByAttachController, ManagedByUpgradeController:
		return taker
	}
	return ""
}
