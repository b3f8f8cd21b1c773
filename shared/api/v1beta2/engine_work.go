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

// IsCloning reports whether a replica is being filled from another volume, by what an engine reports about its replicas.
func IsCloning(all map[string]SnapshotCloneStatus) bool {
	for _, one := range all {
		if one.IsCloning {
			return true
		}
	}
	return false
}

// A v1 engine asks its replicas one by one what a purge, a rebuild, a copy or a restore has become, and lists an error alone for a replica
// that does not answer it. That is no report of the work, which may go on: each of these entries is unanswered.

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
