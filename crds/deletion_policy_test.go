package crds_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const overridden = `metadata: {annotations: {drover.dev/delete-in-use: "true"}}`

// What is in use is not deleted by a slip; what is not, and what somebody insists on, is.
func TestWhatIsInUseIsNotDeletedBySlip(t *testing.T) {
	w := newWriter(t)
	w.install("policies/deletion-in-use.yaml")
	t.Cleanup(w.uninstallDeletionPolicy) // other tests delete what they like
	probe, err := w.create("{kind: Node, metadata: {name: probe}, spec: {}}")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return w.client.Delete(t.Context(), probe.DeepCopy(), client.DryRunAll) != nil }, waitTimeout,
		waitPoll)

	for name, c := range map[string]struct{ object, free, busy, shows string }{
		"a volume": {"{kind: Volume, metadata: {name: vol-1}, spec: {size: '1073741824'}}",
			"status: {state: detached, currentNodeID: ''}", "status: {state: attached, currentNodeID: node-1}",
			"volume vol-1 is attached to node-1"},
		"a volume that is about to be attached": {"{kind: Volume, metadata: {name: vol-2}, spec: {size: '1073741824', nodeID: node-2}}",
			"", "status: {state: detached, currentNodeID: ''}", "volume vol-2 is attached to node-2"},
		"an engine": {"{kind: Engine, metadata: {name: vol-1-e-0}, spec: {volumeName: vol-1}}",
			"status: {currentState: stopped}", "status: {currentState: running}", "engine vol-1-e-0 runs"},
		"an instance manager": {"{kind: InstanceManager, metadata: {name: im-1}, spec: {nodeID: node-1, dataEngine: v2}}",
			"status: {instanceEngines: null, instanceReplicas: {r: {status: {state: stopped}}}}",
			"status: {instanceEngines: {e: {status: {state: running}}}}", "instance manager im-1 runs instances"},
		"a node": {"{kind: Node, metadata: {name: node-1}, spec: {}}",
			"status: {conditions: [{type: Ready, status: 'False', reason: KubernetesNodeGone}]}",
			"status: {conditions: [{type: Ready, status: 'True', reason: NodeReady}]}", "node node-1 is in service"},
		"an engine image": {"{kind: EngineImage, metadata: {name: ei-1}, spec: {image: engine:1}}",
			"status: {refCount: 0}", "status: {refCount: 3}", "engine image ei-1 is in use by 3 Volumes, Engines and Replicas"},
	} {
		t.Run(name, func(t *testing.T) {
			object, err := w.create(c.object)
			require.NoError(t, err)
			require.NoError(t, w.mergeStatus(object, c.busy))
			refused := w.client.Delete(t.Context(), object.DeepCopy())
			require.True(t, apierrors.IsForbidden(refused), "%v", refused)
			require.ErrorContains(t, refused, c.shows)
			require.ErrorContains(t, refused, "drover.dev/delete-in-use=true")
			if c.free != "" {
				require.NoError(t, w.mergeStatus(object, c.free))
				require.NoError(t, w.client.Delete(t.Context(), object.DeepCopy(), client.DryRunAll))
				require.NoError(t, w.mergeStatus(object, c.busy))
			}
			require.NoError(t, w.merge(object, overridden))
			require.NoError(t, w.client.Delete(t.Context(), object.DeepCopy()))
		})
	}
}

// uninstallDeletionPolicy takes the policy away, and waits until the API server has seen that.
func (w writer) uninstallDeletionPolicy() {
	ctx := context.Background()
	for _, kind := range []string{"ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"} {
		object := &unstructured.Unstructured{}
		object.SetAPIVersion("admissionregistration.k8s.io/v1")
		object.SetKind(kind)
		object.SetName("deletion-in-use.longhorn.io")
		require.NoError(w.t, client.IgnoreNotFound(w.client.Delete(ctx, object)))
	}
	probe := &unstructured.Unstructured{}
	probe.SetAPIVersion("longhorn.io/v1beta2")
	probe.SetKind("Node")
	probe.SetNamespace(w.namespace)
	probe.SetName("probe")
	require.Eventually(w.t, func() bool { return client.IgnoreNotFound(w.client.Delete(ctx, probe.DeepCopy())) == nil }, waitTimeout,
		waitPoll)
}
