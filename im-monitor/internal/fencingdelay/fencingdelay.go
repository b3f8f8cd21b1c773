// Package fencingdelay keeps a new leader from names that the leader before it may have asked a server to delete: a server may execute such
// a call long after its caller died.
package fencingdelay

import "time"

// Ends is when a leader may touch such names: a length after its election. For who is not elected, electedAt is zero and the end is always
// ahead.
func Ends(electedAt, now time.Time, length time.Duration) time.Time {
	if electedAt.IsZero() {
		return now.Add(length + time.Second)
	}
	return electedAt.Add(length)
}
