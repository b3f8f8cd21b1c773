// Package retry has the pauses between repeated attempts. If the caller stores the count of failures in an object that outlives the
// attempts, neither a new attempt nor a new leader begins the pauses again.
package retry

import "time"

// Jitter returns a time between 80 and 120 % of a period, so that many processes do not act at once. random returns numbers from 0 to 1.
func Jitter(period time.Duration, random func() float64) time.Duration {
	return time.Duration(float64(period) * (0.8 + 0.4*random()))
}

// Pause doubles with each failure in a row.
type Pause struct{ First, Longest time.Duration }

// After returns the pause after so many failures in a row; none after no failure.
func (p Pause) After(failures int) time.Duration {
	if failures <= 0 {
		return 0
	}
	pause := p.First
	for ; failures > 1 && pause < p.Longest; failures-- {
		pause *= 2
	}
	return min(pause, p.Longest)
}
