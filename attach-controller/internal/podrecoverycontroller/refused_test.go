package podrecoverycontroller

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A VolumeAttachment that may not be deleted is an event with the API server's answer on its Volume, and delays no other.
func TestAVolumeAttachmentThatMayNotBeDeletedIsAnEvent(t *testing.T) {
	w := newWorld(t)
	pod, ours, _ := leftBehind(w)
	w.wrap = func(c client.Client) client.Client { return forbids{c, ours[0].Name} }
	w.start()
	w.end(pod)
	leaves := leaving(w, pod)
	w.turn("a", false)
	w.host("a", false)
	note := w.said(w.namespace, "Volume", w.name("data"), "AttachmentNotDeleted")
	require.Contains(t, note, "kubectl delete volumeattachments.storage.k8s.io "+ours[0].Name)
	require.Contains(t, note, "no one may")
	leaving(w, ours[1])
	require.Contains(t, w.said(w.namespace, "Volume", w.name("logs"), "AttachmentDeleted"), ours[1].Name)
	w.stays(leaves, ours[0])
	require.Equal(t, 1, w.events(w.name("data"), "AttachmentNotDeleted"), "all refusals are one event")
	require.Zero(t, w.events(w.name("data"), "AttachmentDeleted"))
}

type forbids struct {
	client.Client
	name string
}

// Delete implements client.Writer.
func (f forbids) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	if _, ok := obj.(*storagev1.VolumeAttachment); ok && obj.GetName() == f.name {
		return apierrors.NewForbidden(schema.GroupResource{Group: "storage.k8s.io", Resource: "volumeattachments"}, f.name,
			errors.New("no one may"))
	}
	return f.Client.Delete(ctx, obj, opts...)
}
