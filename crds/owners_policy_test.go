package crds_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/testkit"
)

// operator returns a writer with the rights of drover-operate in the namespace.
func (w writer) operator() writer {
	w.t.Helper()
	w.install("roles/people.yaml")
	require.NoError(w.t, w.client.Create(w.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "operator"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "drover-operate"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "operator"}}}))
	config := rest.CopyConfig(testkit.Cluster().AdminConfig())
	config.Impersonate = rest.ImpersonationConfig{UserName: "operator"}
	return writer{t: w.t, client: testkit.Client(w.t, config), namespace: w.namespace}
}

const ownedByNothing = "metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: none, uid: none}]}"

// The garbage collector deletes what names an owner that does not exist: the right to change a Volume must not be one to delete it.
func TestPeopleWhoMayChangeAVolumeDoNotDeleteItByItsOwners(t *testing.T) {
	w := newWriter(t)
	w.install("policies/owners-and-finalizers.yaml")
	operator := w.operator()
	volume, err := w.create("{kind: Volume, metadata: {name: vol-1, finalizers: [longhorn.io]}, spec: {size: '1073741824'}}")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return operator.merge(volume.DeepCopy(), "spec: {numberOfReplicas: 2}") == nil }, waitTimeout,
		waitPoll)
	require.Eventually(t, func() bool { // until the API server holds to the policy
		changed := volume.DeepCopy()
		changed.SetFinalizers(nil)
		return apierrors.IsForbidden(operator.client.Patch(t.Context(), changed, client.MergeFrom(volume), client.DryRunAll))
	}, waitTimeout, waitPoll)

	refused := operator.merge(volume.DeepCopy(), ownedByNothing)
	require.True(t, apierrors.IsForbidden(refused), "%v", refused)
	require.ErrorContains(t, refused, "metadata.ownerReferences says when")
	require.ErrorContains(t, operator.merge(volume.DeepCopy(), "metadata: {finalizers: null}"), "metadata.finalizers keeps the object")
	require.NoError(t, operator.merge(volume.DeepCopy(), "metadata: {labels: {mine: x}, finalizers: [longhorn.io, example.com/mine]}"))
	require.ErrorContains(t, operator.merge(volume.DeepCopy(), "metadata: {finalizers: [longhorn.io]}"),
		"metadata.finalizers keeps the object")

	rules := []rbacv1.PolicyRule{{APIGroups: []string{"longhorn.io"}, Resources: []string{"volumes"}, Verbs: []string{"get", "patch"}}}
	controller := writer{t: t, namespace: w.namespace, client: testkit.Client(t, testkit.Identity(t, w.namespace, "attach-controller", rules))}
	require.NoError(t, controller.merge(volume.DeepCopy(), ownedByNothing), "controllers of the namespace write it")
	require.NoError(t, controller.merge(volume.DeepCopy(), "metadata: {ownerReferences: null, finalizers: [longhorn.io]}"))
	require.NoError(t, w.merge(volume.DeepCopy(), ownedByNothing), "an administrator has every right")
	require.NoError(t, w.merge(volume.DeepCopy(), "metadata: {finalizers: null}"))
}
