package gateway

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// A request to attach waits between its read of the volume and its answer. The answer must show a change of that time, because it is
// kept for all clients: the CSI plugin would wait for a state that came long ago.
func TestAnAnswerThatIsKeptIsNotOlderThanTheLastChange(t *testing.T) {
	e := newEnv(t)
	v := &v1beta2.Volume{ObjectMeta: e.meta("slow"), Spec: v1beta2.VolumeSpec{Size: 1 << 30, NumberOfReplicas: 1, Frontend: "blockdev"}}
	e.create(v)
	e.eventually("/v1/volumes", "the volume", func(l map[string]any) bool { return len(l["data"].([]any)) == 1 })
	before, err := find(t.Context(), e.server.reader, "slow", &v1beta2.Volume{})
	require.NoError(t, err)

	seen, _ := e.server.changes.version(topicVolumes)
	e.status(v, map[string]any{"state": v1beta2.VolumeStateAttached})
	require.NoError(t, e.server.changes.await(t.Context(), func() bool {
		now, _ := e.server.changes.version(topicVolumes)
		return now > seen
	}))

	kept, err := e.server.volumes.get(t.Context(), before)
	require.NoError(t, err)
	body, err := kept.unpack(nil)
	require.NoError(t, err)
	require.Contains(t, string(body), `"state":"attached"`)
	require.Equal(t, "attached", e.call(http.MethodGet, "/v1/volumes/slow", nil)["state"])
}

// Volumes come and go by the thousands where nobody opens a page: their resources must not stay in memory.
func TestNothingIsKeptOfAVolumeThatIsGone(t *testing.T) {
	e := newEnv(t)
	v := e.attachedVolume("short", "node-1")
	e.eventually("/v1/volumes/short", "its replica", func(v map[string]any) bool { return len(v["replicas"].([]any)) == 1 })
	for _, o := range []client.Object{v, &v1beta2.Engine{ObjectMeta: e.meta("short-e-0")}, &v1beta2.Replica{ObjectMeta: e.meta("short-r-1")},
		&v1beta2.VolumeAttachment{ObjectMeta: e.meta("short")}} {
		require.NoError(t, e.admin.Delete(t.Context(), o))
	}
	e.eventuallyGone("/v1/volumes/short")
	require.NoError(t, e.server.changes.await(t.Context(), func() bool { return e.server.changes.places() == 0 }))
}

// places returns how many volumes have a place.
func (c *changes) places() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.volumes)
}

// A list that takes long, such as events from an API server that hangs, holds up each client for its own time only, and not for the time
// of all before it.
func TestAClientWaitsForAListNoLongerThanItsOwnTime(t *testing.T) {
	built, release := make(chan struct{}), make(chan struct{})
	lists := newListCache(newChanges(), map[string]list{"events": {nil, func(request) (any, error) {
		close(built)
		<-release
		return newCollection(request{base: anyBase}, "event", []string{}), nil
	}}})
	ended := make(chan error)
	go func() {
		_, err := lists.get(context.WithoutCancel(t.Context()), "events")
		ended <- err
	}()
	<-built
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := lists.get(over, "events")
	require.ErrorIs(t, err, context.Canceled)
	close(release)
	require.NoError(t, <-ended)
}
