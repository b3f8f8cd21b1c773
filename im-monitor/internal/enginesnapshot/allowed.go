package enginesnapshot

// MayTake reports whether a Snapshot that was read uncached right before the call still requests its snapshot.
func MayTake(s Snapshot) bool { return !s.Deleting && s.Create && !s.Requested.IsZero() }

// MayRemove reports whether the data of a Snapshot may go: it is deleted, its removal is approved, and not withdrawn.
func MayRemove(s Snapshot) bool { return s.Deleting && s.Approved && s.Withdrawn == nil }
