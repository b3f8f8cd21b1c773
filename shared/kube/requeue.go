package kube

import "time"

// ConflictPause is how long to wait for a cache that is behind a conflicting write; the event that is waited for comes first as a rule.
const ConflictPause = 100 * time.Millisecond

// Until returns the time from now until at for a Result's RequeueAfter, at least one millisecond: there, zero and less mean never.
func Until(at, now time.Time) time.Duration { return max(at.Sub(now), time.Millisecond) }
