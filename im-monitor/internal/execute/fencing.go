package execute

import "time"

// FencingDelayEnds is when a leader may touch names that the leader before it may have asked a server to delete, since a server may execute
// such a call long after its caller died: a length after its election. For who is not elected, electedAt is zero and the end is always
// ahead.
func FencingDelayEnds(electedAt, now time.Time, length time.Duration) time.Time {
	if electedAt.IsZero() {
		return now.Add(length + time.Second)
	}
	return electedAt.Add(length)
}
