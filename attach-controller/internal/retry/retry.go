// Package retry has the pauses between repeated attempts. The count of failures is stored with the object that outlives the attempts, so
// that neither the end of what failed, nor a new leader, begins the pauses again.
package retry

import "time"

// Pause doubles with each failure in a row.
type Pause struct{ First, Longest time.Duration }

// After returns the pause after so many failures in a row; none after no failure.
func (p Pause) After(failures int) time.Duration {
	if failures <= 0 {
		return 0
	}
	pause := p.First
	for range failures - 1 {
		if pause = 2 * pause; pause >= p.Longest {
			return p.Longest
		}
	}
	return pause
}
