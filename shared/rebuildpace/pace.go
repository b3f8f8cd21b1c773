// Package rebuildpace is how long a rebuild may be without progress: one rule for those who abort one, and those who wait for one.
package rebuildpace

import "time"

// Floor is the slowest pace, in bytes per second, at which a rebuild still counts as one that goes on. Engines report whole per cents of a
// replica, so a large volume shows nothing for long: 2 TiB at 20 MB/s for 18 minutes. At 1 MB/s one TiB takes 12 days; a slower
// rebuild ends in no useful time, and aborting one that goes on is worse than to notice late that one hangs: it begins from nothing
// each time, and never ends. Engines end transfers whose connection is lost by themselves.
const Floor = 1_000_000

// longest is the longest patience that follows from a size.
const longest = 365 * 24 * time.Hour

// Patience is how long the rebuild of a volume of so many bytes may be without progress: the timeout, or the time of one per cent at Floor
// where that is longer.
func Patience(timeout time.Duration, size int64) time.Duration {
	seconds := min(size/100/Floor, int64(longest/time.Second))
	return max(timeout, time.Duration(seconds)*time.Second)
}
