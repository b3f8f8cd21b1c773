package removalcontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/removal"
	"drover.dev/drover/shared/api/v1beta2"
)

const name = "vol-r-00000001"

func TestFailedTriesAreRepeatedMoreAndMoreSlowly(t *testing.T) {
	m, now := &memory{}, time.Now()
	m.begin(name, "uid", v1beta2.ReasonVolumeDeleting, time.Now())
	var waits []float64
	for range 8 {
		m.failed(name, nil, now)
		waits = append(waits, m.Of(name).NotBefore.Sub(now).Seconds())
	}
	require.Equal(t, []float64{1, 2, 4, 8, 16, 32, 60, 60}, waits)
	m.sent(name, inventory.Call{}, nil, now)
	require.Equal(t, execute.AfterDeletion.First, m.Of(name).NotBefore.Sub(now))
	m.failed(name, nil, now)
	require.Equal(t, execute.AfterFailure.First, m.Of(name).NotBefore.Sub(now), "a call that was taken ends a row of failures")
}

func TestAnotherApprovalIsTriedAtOnceAndKeepsWhatWasCalled(t *testing.T) {
	m, now := &memory{}, time.Now()
	m.begin(name, "uid", v1beta2.ReasonHealthyCopyElsewhere, time.Now())
	m.sent(name, inventory.Call{Name: name}, &removal.Failure{Reason: v1beta2.ReasonUnreachable}, now)
	a := m.begin(name, "uid", v1beta2.ReasonVolumeDeleting, time.Now())
	require.NotNil(t, a.call)
	require.Nil(t, a.failure)
	require.Zero(t, a.NotBefore)
	again := m.begin(name, "another uid", v1beta2.ReasonVolumeDeleting, time.Now())
	require.Nil(t, again.call, "a namesake has no past")
}

func TestOnlyTriesThatFailedForThatReasonAreDueAgain(t *testing.T) {
	m, now := &memory{}, time.Now()
	for replica, reason := range map[string]string{"a": v1beta2.ReasonUnreachable, "b": v1beta2.ReasonMappedByEngine,
		"c": v1beta2.ReasonMappedByEngine} {
		m.begin(replica, "uid", v1beta2.ReasonVolumeDeleting, time.Now())
		m.failed(replica, &removal.Failure{Reason: reason}, now)
	}
	require.Equal(t, []string{"b"}, m.retry(v1beta2.ReasonMappedByEngine, "a", "b"))
	require.Zero(t, m.Of("b").NotBefore)
	require.NotZero(t, m.Of("c").NotBefore)
	require.Equal(t, []string{"a"}, m.retry(v1beta2.ReasonUnreachable))
	m.Forget("a")
	require.Equal(t, []string{"b"}, m.underWay([]string{"a", "b", "z"}))
	m.failed("a", nil, now)
	require.Empty(t, m.underWay([]string{"a"}), "what is forgotten stays so")
}

func TestACallThatHadNoEffectIsSaid(t *testing.T) {
	r := &reconciler{}
	replica := &v1beta2.Replica{}
	replica.Name = name
	r.memory.begin(name, "uid", v1beta2.ReasonVolumeDeleting, time.Now())
	require.Nil(t, r.still(replica, "im-1", "uuid"))
	r.memory.sent(name, inventory.Call{UUID: "uuid"}, nil, time.Now())
	require.Equal(t, v1beta2.ReasonUnreachable, r.still(replica, "im-1", "uuid").Reason)
	require.Nil(t, r.still(replica, "im-1", "another"), "that is another instance")
}
