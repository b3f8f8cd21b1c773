package instancemanager

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// The wait after failures never shrinks, starts at once, doubles, and ends at five minutes exactly.
func TestTheWaitAfterFailuresDoublesUpToItsLimit(t *testing.T) {
	want := []time.Duration{0, 0, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 5 * time.Minute,
		5 * time.Minute}
	for failures, wait := range want {
		require.Equal(t, wait, Backoff(failures), failures)
	}
	require.Zero(t, Backoff(-1))
	require.Equal(t, 5*time.Minute, Backoff(1_000_000))
}

// A volume that lost its engine keeps the instance manager up to the moment that the pause is over, by its own time stamp alone.
func TestALostEngineKeepsAnInstanceManagerUpToItsMoment(t *testing.T) {
	const pause = time.Minute
	why := func(remount, salvage string) string {
		v := &v1beta2.Volume{}
		v.Name, v.Status.State = "v", v1beta2.VolumeStateDetached
		v.Status.RemountRequestedAt, v.Status.LastAutoSalvagedAt = remount, salvage
		return Unsettled(v, nil, now, pause)
	}
	at := func(ago time.Duration) string { return now.Add(-ago).Format(time.RFC3339Nano) }
	lost := "volume v lost its engine less than 1m0s ago"
	require.Equal(t, lost, why(at(pause-time.Nanosecond), ""))
	require.Equal(t, lost, why("", at(pause-time.Nanosecond)))
	require.Empty(t, why(at(pause), at(pause)))
	require.Equal(t, lost, why(at(pause), at(0)), "the later of the two counts")
	require.Equal(t, lost, why(at(-time.Hour), ""), "a clock that is ahead: it may be lost now")
	require.Empty(t, why("yesterday", "0"), "what is not a time is none")
	require.Empty(t, why("", ""))
}
