package crds_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"drover.dev/drover/shared/testkit"
)

const ownedAttachment = `
kind: VolumeAttachment
metadata:
  name: vol-1
  labels: {longhornvolume: vol-1}
  finalizers: [longhorn.io]
  ownerReferences: [{apiVersion: longhorn.io/v1beta2, kind: Volume, name: vol-1, uid: uid-1}]
spec: {volume: vol-1, attachmentTickets: {}}
`

// install applies a policy.
func (w writer) install(file string) {
	w.t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(w.t, err)
	for _, manifest := range strings.Split(string(raw), "\n---\n") {
		object := &unstructured.Unstructured{}
		require.NoError(w.t, yaml.Unmarshal([]byte(manifest), &object.Object))
		require.NoError(w.t, client.IgnoreAlreadyExists(w.client.Create(w.t.Context(), object)))
	}
}

// installPolicy applies the policy and waits until the API server, which learns of it by a watch, holds to it.
func (w writer) installPolicy() {
	w.t.Helper()
	w.install("policies/volumeattachment-identity.yaml")
	probe, err := w.create(strings.ReplaceAll(ownedAttachment, "vol-1", "probe"))
	require.NoError(w.t, err)
	require.Eventually(w.t, func() bool {
		changed := probe.DeepCopy()
		changed.SetLabels(map[string]string{"longhornvolume": "other"})
		return w.client.Patch(w.t.Context(), changed, client.MergeFrom(probe), client.DryRunAll) != nil
	}, waitTimeout, waitPoll)
}

func TestWhatTiesAVolumeAttachmentToItsVolumeStays(t *testing.T) {
	w := newWriter(t)
	w.installPolicy()
	object, err := w.create(ownedAttachment)
	require.NoError(t, err)

	requireRefused(t, w.merge(object, "metadata: {labels: {longhornvolume: vol-2}}"), "longhornvolume of a VolumeAttachment is immutable")
	requireRefused(t, w.merge(object, "metadata: {labels: null}"), "longhornvolume of a VolumeAttachment is immutable")
	requireRefused(t, w.merge(object, "metadata: {ownerReferences: null}"), "owner reference of a VolumeAttachment")
	requireRefused(t, w.merge(object,
		"metadata: {ownerReferences: [{apiVersion: longhorn.io/v1beta2, kind: Volume, name: vol-1, uid: uid-2}]}"),
		"owner reference of a VolumeAttachment")

	require.NoError(t, w.merge(object, "metadata: {labels: {mine: x}}"), "labels of one's own are free")
	require.NoError(t, w.merge(object, "spec: {attachmentTickets: {a: {id: a, type: longhorn-api, nodeID: node-1}}}"))
	require.NoError(t, w.mergeStatus(object, "status: {observedGeneration: 2}"))
	require.NoError(t, w.client.Delete(t.Context(), object))
	require.NoError(t, w.merge(object, "metadata: {ownerReferences: null, finalizers: null}"), "the way out is free")
}

// An object that an older cluster left without them is repaired once, and holds from then on.
func TestAVolumeAttachmentWithoutTiesMayGetThem(t *testing.T) {
	w := newWriter(t)
	w.installPolicy()
	object, err := w.create("{kind: VolumeAttachment, metadata: {name: vol-1}, spec: {volume: vol-1}}")
	require.NoError(t, err)
	require.NoError(t, w.merge(object, `
metadata:
  labels: {longhornvolume: vol-1}
  ownerReferences: [{apiVersion: longhorn.io/v1beta2, kind: Volume, name: vol-1, uid: uid-1}]
`))
	requireRefused(t, w.merge(object, "metadata: {labels: {longhornvolume: null}}"), "is immutable")
}

// The label decides which size an encrypted v2 volume's engine expects of its replicas.
func TestTheRoomForALUKSHeaderStaysAsItWasAtTheCreation(t *testing.T) {
	w := newWriter(t)
	w.install("policies/volume-luks-room.yaml")
	with := `{kind: Volume, metadata: {name: with, labels: {v2-encrypted-volume-with-luks-header: "true"}}, spec: {encrypted: true, dataEngine: v2}}`
	labelled, err := w.create(with)
	require.NoError(t, err)
	plain, err := w.create("{kind: Volume, metadata: {name: without}, spec: {encrypted: true, dataEngine: v2}}")
	require.NoError(t, err)
	const take, give = "metadata: {labels: {v2-encrypted-volume-with-luks-header: null}}",
		`metadata: {labels: {v2-encrypted-volume-with-luks-header: "true"}}`
	require.NoError(t, w.merge(plain, give), "it is being created")
	require.NoError(t, w.merge(plain, take))
	require.NoError(t, w.mergeStatus(labelled, "status: {state: detached}"))
	require.NoError(t, w.mergeStatus(plain, "status: {state: detached}"))
	require.Eventually(t, func() bool { // until the API server holds to the policy
		changed := labelled.DeepCopy()
		changed.SetLabels(nil)
		return w.client.Patch(t.Context(), changed, client.MergeFrom(labelled), client.DryRunAll) != nil
	}, waitTimeout, waitPoll)
	requireRefused(t, w.merge(labelled.DeepCopy(), take), "v2-encrypted-volume-with-luks-header of a Volume is immutable")
	requireRefused(t, w.merge(plain.DeepCopy(), give), "v2-encrypted-volume-with-luks-header of a Volume is immutable")
	require.NoError(t, w.merge(plain, `metadata: {labels: {mine: x, v2-encrypted-volume-with-luks-header: "false"}}`), "only true counts")

	rules := []rbacv1.PolicyRule{{APIGroups: []string{"longhorn.io"}, Resources: []string{"volumes"}, Verbs: []string{"get", "patch"}}}
	controller := writer{t: t, namespace: w.namespace, client: testkit.Client(t, testkit.Identity(t, w.namespace, "attach-controller", rules))}
	require.NoError(t, controller.merge(plain, give), "controllers of the namespace write it")
}
