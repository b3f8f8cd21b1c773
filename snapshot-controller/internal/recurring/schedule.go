package recurring

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // The image of the binary has no time zones.

	"github.com/robfig/cron/v3"
)

// schedule is when a job runs: at the times that the fields of a cron name, or, without fields, at a distance from the last run.
type schedule struct {
	fields *cron.SpecSchedule
	every  time.Duration
}

// parse reads spec.cron: five fields or @daily and the like, in UTC or in the zone that CRON_TZ= before them names, or @every
// with a duration.
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
	switch times := parsed.(type) {
	case *cron.SpecSchedule:
		return schedule{fields: times}, nil
	case cron.ConstantDelaySchedule:
		return schedule{every: times.Delay}, nil
	}
	return schedule{}, errors.New("it is of no known kind")
}

func hasZone(text string) bool {
	return strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ=")
}

// after is the first time after t of a job that ran last, or began, at the base; zero: none within the five years that the
// library checks.
func (s schedule) after(base, t time.Time) time.Time {
	if s.fields != nil {
		return s.next(t)
	}
	if t.Before(base) {
		t = base
	}
	return base.Add((t.Sub(base)/s.every + 1) * s.every).UTC()
}

// next is the first time after t that the fields name. Fields that name hours mean what a clock on the wall shows: where clocks
// are put forward over such a time it comes as they are, and where they are put back it comes once. Fields of every hour
// count hours that pass.
func (s schedule) next(t time.Time) time.Time {
	zone := s.fields.Location
	if s.fields.Hour&everyValue != 0 || zone == time.Local { // UTC, which is what t is in
		return inUTC(s.fields.Next(t.UTC()))
	}
	wall := *s.fields
	wall.Location = time.UTC
	for shown := wall.Next(asShown(t.In(zone))); !shown.IsZero(); shown = wall.Next(shown) {
		if at := firstShown(shown, zone); at.After(t) {
			return at.UTC()
		}
	}
	return time.Time{}
}

// everyValue is the bit by which the library marks a field that is a star.
const everyValue = 1 << 63

func inUTC(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC()
}

// asShown is what a clock shows, written as a time in UTC.
func asShown(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// firstShown is the first time at which a clock in the zone shows this or more.
func firstShown(shown time.Time, zone *time.Location) time.Time {
	at := time.Date(shown.Year(), shown.Month(), shown.Day(), shown.Hour(), shown.Minute(), shown.Second(), 0, zone)
	begin, end := at.ZoneBounds()
	switch is := asShown(at); {
	case is.After(shown): // the clock leaves it out, and this is after the change
		return begin
	case is.Before(shown):
		return end
	case begin.IsZero():
		return at
	}
	_, before := begin.Add(-time.Second).Zone()
	if earlier := shown.Add(-time.Duration(before) * time.Second); earlier.Before(begin) { // the clock shows it twice
		return earlier
	}
	return at
}

// windows are how far to search back for the last time that has passed, from near to far, so that neither a job of every
// minute nor one of every year needs many steps.
var windows = []time.Duration{time.Hour, 24 * time.Hour, 32 * 24 * time.Hour, 367 * 24 * time.Hour, 5 * 366 * 24 * time.Hour}

// due is the last time after since that has passed by now; zero: none has.
func (s schedule) due(since, now time.Time) time.Time {
	if s.fields == nil {
		if many := now.Sub(since) / s.every; many > 0 {
			return since.Add(many * s.every).UTC()
		}
		return time.Time{}
	}
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
