package gateway

import (
	"context"
	"net/http"
	"reflect"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// lagging is a cache that still shows earlier versions of some objects, as that of a process whose watch is slow.
type lagging struct {
	client.Reader
	mutex sync.Mutex
	held  map[string]client.Object
}

// hold has an object read as it is now.
func (l *lagging) hold(o client.Object) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.held[reflect.TypeOf(o).String()+o.GetName()] = o.DeepCopyObject().(client.Object)
}

// Get implements client.Reader.
func (l *lagging) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	l.mutex.Lock()
	old := l.held[reflect.TypeOf(into).String()+key.Name]
	l.mutex.Unlock()
	if old == nil {
		return l.Reader.Get(ctx, key, into, options...)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(old).Elem())
	return nil
}

// behind reads an object, and has this process go on with that version.
func (e *env) behind(o client.Object) {
	e.t.Helper()
	require.NoError(e.t, e.admin.Get(e.t.Context(), client.ObjectKeyFromObject(o), o))
	e.cache.hold(o)
}

// The plugin attaches by one process and detaches by another, which has not seen the ticket yet. A ticket that stays is removed by nobody:
// the volume would be held on a node that no pod uses.
func TestATicketOfAnotherProcessIsRemoved(t *testing.T) {
	e := newEnv(t, func(e *env) { e.options.WriteTimeout /= 20 })
	e.attachedVolume("held", "node-1")
	va := &v1beta2.VolumeAttachment{ObjectMeta: e.meta("held")}
	e.eventually("/v1/volumeattachments", "the attachment", func(l map[string]any) bool { return len(l["data"].([]any)) == 1 })
	e.behind(va)
	va.Spec.AttachmentTickets = map[string]v1beta2.AttachmentTicket{"csi-1": {ID: "csi-1", Type: "csi-attacher", NodeID: "node-1",
		Generation: 1}}
	require.NoError(t, e.admin.Update(t.Context(), va))
	e.call(http.MethodPost, "/v1/volumes/held?action=detach", map[string]any{"attachmentID": "csi-1"})
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKeyFromObject(va), va))
	require.Empty(t, va.Spec.AttachmentTickets)
}

// The size was raised by another process: what is smaller than that changes nothing.
func TestAVolumeDoesNotShrinkByAnExpansion(t *testing.T) {
	e := newEnv(t, func(e *env) { e.options.WriteTimeout /= 20 })
	v := e.attachedVolume("grown", "node-1")
	e.eventually("/v1/volumes", "the volume", func(l map[string]any) bool { return len(l["data"].([]any)) == 1 })
	e.behind(v)
	v.Spec.Size = 10 << 30
	require.NoError(t, e.admin.Update(t.Context(), v))
	e.call(http.MethodPost, "/v1/volumes/grown?action=expand", map[string]any{"size": "5Gi"})
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKeyFromObject(v), v))
	require.Equal(t, int64(10<<30), v.Spec.Size)
}

// The volume was salvaged already and serves: the data of a replica that failed before is old, and must not be taken back. And no replica
// is taken back if another name is wrong.
func TestOldDataIsNotTakenBack(t *testing.T) {
	e := newEnv(t, func(e *env) { e.options.WriteTimeout /= 20 })
	v := e.attachedVolume("lost", "node-1")
	e.attachedVolume("other", "node-1")
	replica := &v1beta2.Replica{ObjectMeta: e.meta("lost-r-1")}
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKeyFromObject(replica), replica))
	replica.Spec.FailedAt = "2026-11-28T00:00:00Z"
	require.NoError(t, e.admin.Update(t.Context(), replica))
	e.status(v, map[string]any{"state": v1beta2.VolumeStateDetached, "robustness": v1beta2.VolumeRobustnessFaulted})
	e.eventually("/v1/volumes/lost", "faulted", func(v map[string]any) bool { return v["robustness"] == "faulted" })
	failed := func() string {
		require.NoError(t, e.admin.Get(t.Context(), client.ObjectKeyFromObject(replica), replica))
		return replica.Spec.FailedAt
	}
	e.refused(http.StatusInternalServerError, http.MethodPost, "/v1/volumes/lost?action=salvage",
		map[string]any{"names": []string{"lost-r-1", "other-r-1"}})
	require.NotEmpty(t, failed())

	e.behind(v)
	e.status(v, map[string]any{"state": v1beta2.VolumeStateAttached, "robustness": v1beta2.VolumeRobustnessHealthy})
	e.refused(http.StatusInternalServerError, http.MethodPost, "/v1/volumes/lost?action=salvage",
		map[string]any{"names": []string{"lost-r-1"}})
	require.NotEmpty(t, failed())
}

// A replica was placed on the disk a moment ago: the disk stays.
func TestADiskThatGotAReplicaIsNotRemoved(t *testing.T) {
	e := newEnv(t, func(e *env) { e.options.WriteTimeout /= 20 })
	n := &v1beta2.Node{ObjectMeta: e.meta("node-1"), Spec: v1beta2.NodeSpec{Disks: map[string]v1beta2.DiskSpec{"d1": {Path: "/data"}}}}
	e.create(n)
	e.eventually("/v1/nodes", "the node", func(l map[string]any) bool { return len(l["data"].([]any)) == 1 })
	e.behind(n)
	e.status(n, map[string]any{"diskStatus": map[string]any{"d1": map[string]any{"scheduledReplica": map[string]any{"r-1": 1}}}})
	require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPost, "/v1/nodes/node-1?action=diskUpdate",
		map[string]any{"disks": map[string]any{}}), "d1")
}
