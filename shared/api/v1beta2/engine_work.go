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
