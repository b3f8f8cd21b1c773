package kube_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

func TestWhatWasWrittenIsStaleUntilTheCacheShowsIt(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC))
	written := kube.Written{Clock: clock}
	at := func(name, version string) *v1beta2.Volume {
		return &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "1", ResourceVersion: version}}
	}
	v := at("v", "1")
	require.False(t, written.Stale(v))
	written.Record(v)
	require.True(t, written.Stale(at("v", "1")))
	require.False(t, written.Stale(at("v", "2")), "the cache shows the change")
	written.Record(at("v", "10"))
	require.True(t, written.Stale(at("v", "9")), "it was read uncached, and the cache is further behind")
	require.False(t, written.Stale(at("v", "11")))
	other := at("v", "9")
	other.UID = "2"
	require.False(t, written.Stale(other), "it was deleted and created again")
	written.Record(v)
	require.False(t, written.Stale(at("w", "1")), "another object")
	require.False(t, written.Stale(&v1beta2.Engine{ObjectMeta: v.ObjectMeta}), "another kind")
	clock.SetTime(clock.Now().Add(3 * time.Second))
	require.False(t, written.Stale(v), "a write that changed nothing brings no event")

	observing := kube.Written{Clock: clock, Observe: true}
	observing.Record(v)
	require.False(t, observing.Stale(v), "nothing was written")
}
