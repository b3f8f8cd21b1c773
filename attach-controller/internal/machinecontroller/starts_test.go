package machinecontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestAReplicaIsWaitedForSinceItWasFirstSeenNotToRun(t *testing.T) {
	t.Parallel()
	v, r := &v1beta2.Volume{}, &v1beta2.Replica{}
	v.Name, r.Name, r.UID = vol, "r-1", "uid-1"
	r.Spec.NodeID, r.Spec.DesireState = "node-1", v1beta2.InstanceStateRunning
	var s starts
	at := func(now time.Time) map[string]time.Time {
		w := machine.World{Now: now, Volume: v, Nodes: map[string]machine.Node{"node-1": {Known: true}}}
		w.Replicas = []*v1beta2.Replica{r}
		s.note(&w)
		return w.StartsSince
	}
	require.Equal(t, map[string]time.Time{"r-1": noon}, at(noon))
	require.Equal(t, map[string]time.Time{"r-1": noon}, at(noon.Add(time.Minute)))
	r.UID = "uid-2"
	require.Equal(t, map[string]time.Time{"r-1": noon.Add(time.Minute)}, at(noon.Add(time.Minute)), "another one of the same name")
	r.Status.CurrentState, r.Status.Port = v1beta2.InstanceStateRunning, 10000
	require.Empty(t, at(noon.Add(time.Minute)))
	require.Empty(t, s.since)
	r.Status.CurrentState = v1beta2.InstanceStateUnknown
	require.Equal(t, map[string]time.Time{"r-1": noon.Add(time.Hour)}, at(noon.Add(time.Hour)))
	s.forget(vol)
	require.Empty(t, s.since)
}
