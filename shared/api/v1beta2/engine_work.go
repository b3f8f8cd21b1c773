package v1beta2

// IsPurging reports whether a replica merges snapshots, by what an engine reports about its replicas.
func IsPurging(all map[string]PurgeStatus) bool {
	for _, one := range all {
		if one.IsPurging {
			return true
		}
	}
	return false
}

// IsRebuilding reports whether a replica is being filled, by what an engine reports about its replicas.
func IsRebuilding(all map[string]RebuildStatus) bool {
	for _, one := range all {
		if one.IsRebuilding {
			return true
		}
	}
	return false
}

// IsCloning reports whether a replica is being filled from another volume, according to an engine's reports about its replicas.
func IsCloning(all map[string]SnapshotCloneStatus) bool {
	for _, one := range all {
		if one.IsCloning {
			return true
		}
	}
	return false
}

// IsRestoring reports whether a replica is being filled from a backup, according to an engine's reports about its replicas.
func IsRestoring(all map[string]RestoreStatus) bool {
	for _, one := range all {
		if one.IsRestoring {
			return true
		}
	}
	return false
}

// FillsByRestore reports whether the next restore fills the replicas that an engine gets now. A v2 engine rebuilds them all the same.
func FillsByRestore(e *Engine) bool {
	return e.Spec.RequestedBackupRestore != "" && e.Spec.DataEngine != DataEngineV2
}

// A v1 engine asks each of its replicas about the progress of a purge, a rebuild, a copy or a restore. If a replica does not answer, the
// engine lists an error alone for it. Such an entry is unanswered: the work may go on.

// IsUnanswered reports whether the entry is the error of the question alone.
func (s PurgeStatus) IsUnanswered() bool { return s.Error != "" && s == PurgeStatus{Error: s.Error} }

// IsUnanswered reports whether the entry is the error of the question alone.
func (s RebuildStatus) IsUnanswered() bool {
	return s.Error != "" && !s.IsRebuilding && s.State == "" && s.Progress == 0
}

// IsUnanswered reports whether the entry is the error of the question alone.
func (s SnapshotCloneStatus) IsUnanswered() bool {
	return s.Error != "" && s == SnapshotCloneStatus{Error: s.Error}
}

// IsUnanswered reports whether the entry is the error of the question alone.
func (s RestoreStatus) IsUnanswered() bool {
	return s.Error != "" && !s.IsRestoring && s.State == "" && s.BackupURL == "" && s.LastRestored == ""
}
