package recurring

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // The image of the binary has no time zones.

	"github.com/robfig/cron/v3"
)

// schedule is when a job runs.
type schedule struct{ times *cron.SpecSchedule }

// parse reads spec.cron: five fields in UTC, or in the zone that CRON_TZ= before them names.
func parse(text string) (schedule, error) {
	if text == "" {
		return schedule{}, errors.New("it is empty")
	}
	// The library takes what follows a zone for granted.
	if hasZone(text) && !strings.Contains(text, " ") {
		return schedule{}, errors.New("no fields follow the time zone")
	}
	parsed, err := cron.ParseStandard(text)
	if err != nil {
		return schedule{}, fmt.Errorf("reading the fields: %w", err)
	}
	times, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return schedule{}, errors.New("@every counts from no fixed time; name the minutes instead")
	}
	return schedule{times: times}, nil
}

func hasZone(text string) bool {
	return strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ=")
}

// next is the first time after t; zero: none within the five years that the library looks at.
func (s schedule) next(t time.Time) time.Time {
	next := s.times.Next(t.UTC())
	if next.IsZero() {
		return next
	}
	return next.UTC()
}

// after is the first time after t of a job that ran last, or began, at the base.
func (s schedule) after(_, t time.Time) time.Time { return s.next(t) }

// windows are how far to look back for the last time that has passed, from near to far, so that neither a job of every
// minute nor one of every year needs many steps.
var windows = []time.Duration{time.Hour, 24 * time.Hour, 32 * 24 * time.Hour, 367 * 24 * time.Hour, 5 * 366 * 24 * time.Hour}

// due is the last time after since that has passed by now; zero: none has.
func (s schedule) due(since, now time.Time) time.Time {
	for _, window := range windows {
		from := now.Add(-window)
		if from.Before(since) {
			from = since
		}
		if last := s.last(from, now); !last.IsZero() || from.Equal(since) {
			return last
		}
	}
	return time.Time{}
}

// last is the last time after from and not after now; zero: there is none.
func (s schedule) last(from, now time.Time) (last time.Time) {
	for t := s.next(from); !t.IsZero() && !t.After(now); t = s.next(t) {
		last = t
	}
	return last
}
