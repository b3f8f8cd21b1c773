package instancecontroller_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// N5: a process that begins knows nothing of the servers yet; what runs is not called unknown for that. A server that does not answer it
// is.
func TestARestartCallsNothingUnknownBeforeItsServerWasAsked(t *testing.T) {
	for name, shut := range map[string]bool{"it answers": false, "it does not answer": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "restart-1")
			im := manager("restart-1", "v1")
			e := w.engine("vol-e-0", "vol", "restart-1", "v1")
			w.run(e)
			w.engineIs(e.Name, v1beta2.InstanceStateRunning)

			asked, answer := w.Servers.Slow(im)
			defer answer()
			w.Crash()
			w.Eventually(func() bool {
				select {
				case <-asked: // by the new process: the old one has ended
					return true
				default:
					return false
				}
			}, "the new process asks no one")
			later := w.replica("vol-r-00000001", "vol", "restart-1", "v1")
			w.run(later)
			w.replicaIs(later.Name, v1beta2.InstanceStateStopped) // the new process has read the objects of the node
			var now v1beta2.Engine
			require.True(t, w.Get(e.Name, &now))
			require.Equal(t, v1beta2.InstanceStateRunning, now.Status.CurrentState, "its server was not asked yet")

			w.Servers.Shut(im, shut)
			answer()
			if shut {
				w.engineIs(e.Name, v1beta2.InstanceStateUnknown)
				return
			}
			w.replicaIs(later.Name, v1beta2.InstanceStateRunning)
			w.engineIs(e.Name, v1beta2.InstanceStateRunning)
		})
	}
}
