package present

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The dashboard of the web interface sorts events by their last time, and ends at an event without one. Events of events.k8s.io have none.
func TestEveryEventHasATimeAndACount(t *testing.T) {
	at := func(minutes int) time.Time { return time.Date(2026, 8, 21, 9, minutes, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		event       corev1.Event
		first, last time.Time
		count       int32
	}{
		"an event of the older form keeps its times": {corev1.Event{FirstTimestamp: metav1.NewTime(at(1)), LastTimestamp: metav1.NewTime(at(2)),
			Count: 7}, at(1), at(2), 7},
		"a single event has its own time": {corev1.Event{EventTime: metav1.NewMicroTime(at(3))}, at(3), at(3), 1},
		"a series has the time of its last event": {corev1.Event{EventTime: metav1.NewMicroTime(at(3)),
			Series: &corev1.EventSeries{Count: 5, LastObservedTime: metav1.NewMicroTime(at(4))}}, at(3), at(4), 5},
		"an event without a time has the time of its creation": {corev1.Event{
			ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at(5))}}, at(5), at(5), 1},
	} {
		original := c.event.DeepCopy()
		shown := NewEvent("http://a", &c.event).Event
		require.Equal(t, c.first, shown.FirstTimestamp.Time, name)
		require.Equal(t, c.last, shown.LastTimestamp.Time, name)
		require.Equal(t, c.count, shown.Count, name)
		require.Equal(t, original, &c.event, "%s: the object of the cache is not changed", name)
	}
}
