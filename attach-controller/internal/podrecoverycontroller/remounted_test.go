package podrecoverycontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/testkit"
)

// TestAPodStaysWhileNoOtherPodCouldMountTheVolume proves that a pod with a dead mount is deleted only once the CSI plugin gets answers, and
// that its Volume reports until then why it stays.
func TestAPodStaysWhileNoOtherPodCouldMountTheVolume(t *testing.T) {
	w := newWorld(t)
	w.backend(false)
	volume, well := w.volume("data"), w.volume("well")
	pod := w.pod("web-0", set, "a", time.Now().Add(-time.Hour), "data")
	second := w.pod("web-1", set, "a", time.Now().Add(-time.Hour), "data")
	w.ahead = time.Hour // both were there before the volume was detached
	w.detached(volume, time.Now().Add(time.Hour-time.Minute))
	p := w.start()
	reported := func(is bool) func(*v1beta2.Volume) bool {
		return func(v *v1beta2.Volume) bool {
			return conditions.Get(v.Status.Conditions, v1beta2.VolumeRemounted) != nil == is
		}
	}
	now := testkit.WaitFor(t, w.admin, volume, "the condition", reported(true))
	c := conditions.Get(now.Status.Conditions, v1beta2.VolumeRemounted)
	require.Equal(t, v1beta2.ReasonBackendNotReady, c.Reason)
	require.Contains(t, c.Message, "Pod "+w.pods+"/web-0 has a mount that lost its device")
	w.stays(pod, second)
	require.Len(t, p.Client.Writes(), 1, "it is written once: %s", p.Client.Writes())
	require.Nil(t, conditions.Get(well.Status.Conditions, v1beta2.VolumeRemounted))

	w.stop() // its successor finds the condition, and the Service that serves again
	w.backend(true)
	w.start()
	leaving(w, pod)
	leaving(w, second)
	testkit.WaitFor(t, w.admin, volume, "no condition", reported(false))
}

// TestTheConditionEndsWithThePod proves that a person may end the wait.
func TestTheConditionEndsWithThePod(t *testing.T) {
	w := newWorld(t)
	w.backend(false)
	volume := w.volume("data")
	w.ahead = time.Hour
	w.detached(volume, time.Now().Add(time.Hour-time.Minute))
	pod := w.pod("web-0", set, "a", time.Now().Add(-time.Hour), "data")
	w.start()
	testkit.WaitFor(t, w.admin, volume, "the condition", func(v *v1beta2.Volume) bool {
		return conditions.IsFalse(v.Status.Conditions, v1beta2.VolumeRemounted)
	})
	w.end(pod)
	testkit.WaitFor(t, w.admin, volume, "no condition", func(v *v1beta2.Volume) bool {
		return conditions.Get(v.Status.Conditions, v1beta2.VolumeRemounted) == nil
	})
}
