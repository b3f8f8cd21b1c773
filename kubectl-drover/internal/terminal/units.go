package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Age returns how long ago an RFC 3339 time was, as "4m ago"; "" where it is empty or no time, "just now" below a second and for times
// ahead of this clock.
func Age(now time.Time, at string) string {
	when, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return ""
	}
	return AgeOf(now, when)
}

// AgeOf is Age for a time; "" for the zero one.
func AgeOf(now, when time.Time) string {
	if when.IsZero() {
		return ""
	}
	if since := now.Sub(when); since >= time.Second {
		return Duration(since) + " ago"
	}
	return "just now"
}

// Duration returns a duration in its largest unit, or the two largest while the first is small: 42s, 4m, 3h20m, 2d.
func Duration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 10*time.Hour && d%time.Hour >= time.Minute:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d < 2*day:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	default:
		return strconv.Itoa(int(d/day)) + "d"
	}
}

// Size returns a number of bytes in GiB, with as many decimals as matter; small ones in MiB or KiB.
func Size(bytes int64) string {
	const kib, mib, gib = 1 << 10, 1 << 20, 1 << 30
	switch {
	case bytes == 0:
		return "0 GiB"
	case bytes < mib/10:
		return decimal(float64(bytes)/kib) + " KiB"
	case bytes < gib/10:
		return decimal(float64(bytes)/mib) + " MiB"
	}
	return decimal(float64(bytes)/gib) + " GiB"
}

func decimal(value float64) string {
	if value >= 100 {
		return strconv.FormatFloat(value, 'f', 0, 64)
	}
	return strings.TrimSuffix(strconv.FormatFloat(value, 'f', 1, 64), ".0")
}
