package orphancontroller

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestTriesAreRepeatedMoreAndMoreSlowly(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	var a attempts
	refused := orphan.Failure{Reason: v1beta2.ReasonRefused}
	var waits []time.Duration
	for range 8 {
		waits = append(waits, a.Change("uid", func(t *attempt) { t.failed(refused, now) }).NotBefore.Sub(now))
	}
	require.Equal(t, []time.Duration{1, 2, 4, 8, 16, 32, 60, 60}, seconds(waits))
	require.Equal(t, &refused, a.Of("uid").failure)

	later := a.Change("uid", func(t *attempt) { t.Fail(now) })
	require.Equal(t, time.Minute, later.NotBefore.Sub(now), "a try that came to nothing slows down, too")
	require.Equal(t, &refused, later.failure, "and reports nothing new")

	require.True(t, hurry(&a, "uid"), "an instance manager that is known again is tried at once")
	require.True(t, a.Of("uid").NotBefore.IsZero())

	taken := a.Change("uid", func(t *attempt) { t.accepted(inventory.Call{UUID: "1"}, nil, now) })
	require.Equal(t, 10*time.Second, taken.NotBefore.Sub(now))
	require.Empty(t, taken.failure.Reason, "a call that was taken ends the failure")
	require.False(t, hurry(&a, "uid"), "after a call that was taken there is nothing to hurry")

	still := &orphan.Failure{Reason: v1beta2.ReasonStillPresent}
	require.Equal(t, still, a.Change("uid", func(t *attempt) { t.accepted(inventory.Call{UUID: "1"}, still, now) }).failure,
		"it stands until the instance ends")
	a.Forget("uid")
	require.Equal(t, attempt{}, a.Of("uid"))
	require.False(t, hurry(&a, "uid"))
	require.False(t, a.Known("uid"), "nothing is remembered of what was forgotten")
}

func TestOrphanedDataIsExecutedWhereAnInstanceManagerCanBeCalled(t *testing.T) {
	keys := []orphan.Key{{InstanceManager: "im-2", Name: "r"}, {InstanceManager: "im-1", Name: "r"}, {InstanceManager: "im-3", Name: "r"}}
	for name, c := range map[string]struct {
		keys  []orphan.Key
		known []string
		want  []string
	}{
		"one has a pod":                {keys, []string{"im-2"}, []string{"im-2"}},
		"two have one for a moment":    {keys, []string{"im-2", "im-3"}, []string{"im-2", "im-3"}},
		"none has one":                 {keys, nil, []string{"im-1"}},
		"there is no instance manager": {[]orphan.Key{{Name: "r"}}, nil, []string{""}},
		"their list cannot be read":    {nil, nil, nil},
	} {
		var got []string
		for _, key := range answering(c.keys, func(k orphan.Key) bool { return slices.Contains(c.known, k.InstanceManager) }) {
			got = append(got, key.InstanceManager)
		}
		require.Equal(t, c.want, got, name)
	}
}

func seconds(list []time.Duration) []time.Duration {
	out := make([]time.Duration, len(list))
	for i, d := range list {
		out[i] = d / time.Second
	}
	return out
}

func TestANonDecisionCountsOnce(t *testing.T) {
	var u undecided
	key := orphan.Key{InstanceManager: "im-1", Name: "vol-r-1"}
	require.True(t, u.set(key, v1beta2.ReasonNoUUID))
	require.False(t, u.set(key, v1beta2.ReasonNoUUID))
	require.True(t, u.set(key, v1beta2.ReasonNotLive))
	require.True(t, u.set(key, ""))
	require.False(t, u.set(key, ""))
	u.set(key, v1beta2.ReasonNotLive)
	u.forget("im-1")
	require.Empty(t, u.m)
}
