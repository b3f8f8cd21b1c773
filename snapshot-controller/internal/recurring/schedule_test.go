package recurring

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Fields that name hours mean what a clock on the wall shows: each of its days has one 02:30, whatever is done to the clocks. Fields
// of every hour count hours that pass.
func TestDaylightSaving(t *testing.T) {
	for _, c := range []struct {
		name, cron, from string
		want             []string
	}{
		{"clocks are put forward over it", "CRON_TZ=Europe/Berlin 30 2 * * *", "2026-03-27T12:00:00Z",
			[]string{"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
		{"clocks are put back over it", "CRON_TZ=Europe/Berlin 30 2 * * *", "2026-10-23T12:00:00Z",
			[]string{"2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
		{"seen between the two", "CRON_TZ=Europe/Berlin 30 2 * * *", "2026-10-25T00:45:00Z", []string{"2026-10-26T01:30:00Z"}},
		{"several of one hour that is left out are one", "CRON_TZ=Europe/Berlin */20 2 * * *", "2026-03-29T00:00:00Z",
			[]string{"2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"}},
		{"the hour after the change", "CRON_TZ=Europe/Berlin 0 3 * * *", "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T02:00:00Z", "2026-10-26T02:00:00Z"}},
		{"west of Greenwich, forward", "CRON_TZ=America/New_York 30 2 * * *", "2026-03-07T12:00:00Z",
			[]string{"2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"}},
		{"west of Greenwich, back", "CRON_TZ=America/New_York 30 1 * * *", "2026-10-31T12:00:00Z",
			[]string{"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"}},
		{"a day without midnight", "CRON_TZ=Africa/Cairo @daily", "2026-04-23T12:00:00Z",
			[]string{"2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"}},
		{"every hour, forward", "CRON_TZ=Europe/Berlin 30 * * * *", "2026-03-29T00:00:00Z",
			[]string{"2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"}},
		{"every hour, back", "CRON_TZ=Europe/Berlin 30 * * * *", "2026-10-25T00:00:00Z",
			[]string{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"}},
		{"by UTC nothing changes", "30 2 * * *", "2026-03-28T12:00:00Z", []string{"2026-03-29T02:30:00Z", "2026-03-30T02:30:00Z"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := parse(c.cron)
			require.NoError(t, err)
			at, err := time.Parse(time.RFC3339, c.from)
			require.NoError(t, err)
			var got []string
			for range c.want {
				at = s.next(at)
				got = append(got, format(at))
			}
			require.Equal(t, c.want, got)
		})
	}
}

// In any zone a daily time comes once on each day that its clocks show.
func TestADailyTimeComesOnceADay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Beirut",
			"America/Sao_Paulo", "Asia/Tokyo"}).Draw(t, "zone")
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		s, err := parse("CRON_TZ=" + name + " " +
			rapid.SampledFrom([]string{"0 0", "30 0", "15 1", "30 2", "0 3", "59 23"}).Draw(t, "time") + " * * *")
		require.NoError(t, err)
		at := time.Date(2000+rapid.IntRange(0, 26).Draw(t, "year"), 1, 1, 0, 0, 0, 0, zone).Add(-time.Second)
		for range 366 {
			next := s.next(at)
			require.Equal(t, 24*time.Hour, day(next.In(zone)).Sub(day(at.In(zone))), "after %s comes %s", at.In(zone), next.In(zone))
			at = next
		}
	})
}

// day is the day that a clock shows.
func day(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
