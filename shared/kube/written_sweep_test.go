package kube

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"drover.dev/drover/shared/api/v1beta2"
)

// A process that writes once and then only reads keeps nothing.
func TestWhatIsTooOldToCountIsForgottenAtTheNextRead(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC))
	w := Written{Clock: clock}
	for _, name := range []string{"a", "b"} {
		w.Record(&v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	require.Len(t, w.writes, 2)
	clock.SetTime(clock.Now().Add(behindFor + time.Second))
	require.False(t, w.Stale(&v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "c"}}))
	require.Empty(t, w.writes)
}
