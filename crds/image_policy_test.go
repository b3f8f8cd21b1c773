package crds_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Whoever may change a Setting does not choose from where privileged pods come, once an administrator allowed registries.
func TestImagesOfInstanceManagersComeFromWhereAnAdministratorSays(t *testing.T) {
	w := newWriter(t)
	w.install("policies/instance-manager-image.yaml")
	_, err := w.create("{kind: Setting, metadata: {name: default-instance-manager-image}, value: 'evil.example/im:1'}")
	require.NoError(t, err, "without the ConfigMap everything is accepted")
	other, err := w.create("{kind: Setting, metadata: {name: default-engine-image}, value: 'one/engine:1'}")
	require.NoError(t, err)
	manager, err := w.create("{kind: InstanceManager, metadata: {name: im-1}, spec: {nodeID: node-1, dataEngine: v2, image: " +
		"'evil.example/im:1'}}")
	require.NoError(t, err)

	require.NoError(t, w.client.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "drover-instance-manager-images"},
		Data:       map[string]string{"prefixes": "registry.example.com/storage/\n\n docker.io/longhornio/im@sha256:abc \n"},
	}))
	image := parse(t, w.namespace, "{kind: Setting, metadata: {name: default-instance-manager-image}}")
	set := func(value string) error { return w.merge(image.DeepCopy(), "value: "+value) }
	require.Eventually(t, func() bool { // what was stored before the API server holds to the policy would stay
		probe := client.RawPatch(types.MergePatchType, []byte(`{"value":"elsewhere.example/im:2"}`))
		return apierrors.IsForbidden(w.client.Patch(t.Context(), image.DeepCopy(), probe, client.DryRunAll))
	}, waitTimeout, waitPoll)
	require.ErrorContains(t, set("registry.example.com/storage-of-others/im:2"), "begins with none of the lines")
	require.ErrorContains(t, set("docker.io/longhornio/im:2"), "docker.io/longhornio/im@sha256:abc")
	require.NoError(t, w.merge(image.DeepCopy(), "metadata: {labels: {mine: x}}"), "what is there stays")
	require.NoError(t, set("registry.example.com/storage/im:2"))
	require.NoError(t, set("docker.io/longhornio/im@sha256:abc"))
	require.NoError(t, w.merge(other, "value: evil.example/engine:1"), "the rule is about one setting")

	require.NoError(t, w.merge(manager, "metadata: {labels: {mine: x}}"))
	_, err = w.create("{kind: InstanceManager, metadata: {name: im-2}, spec: {nodeID: node-1, dataEngine: v2, image: 'evil.example/im:1'}}")
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	_, err = w.create("{kind: NodeDataEngineUpgrade, metadata: {name: up-1}, spec: {nodeID: node-1, dataEngine: v2, " +
		"dataEngineUpgradeManager: up, instanceManagerImage: 'evil.example/im:1'}}")
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	_, err = w.create("{kind: NodeDataEngineUpgrade, metadata: {name: up-1}, spec: {nodeID: node-1, dataEngine: v2, " +
		"dataEngineUpgradeManager: up, instanceManagerImage: 'registry.example.com/storage/im:3'}}")
	require.NoError(t, err)
}
