package runkit_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/leaselock"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/testkit"
)

// A leader whose renewals fail still believes that it leads for a while, as one that was paused does: the API server would take its writes.
func TestALeaderThatCannotRenewItsLeaseReadsAndNeverWrites(t *testing.T) {
	namespace := testkit.Namespace(t)
	tried := make(chan attempts, 1)
	p := startDoing(t, namespace, withoutRenewal(t, namespace), func(ctx context.Context, rt *runkit.Runtime) error {
		tried <- tryOnceFenced(context.WithoutCancel(ctx), rt)
		return nil
	})
	var done attempts
	select {
	case done = <-tried:
	case <-time.After(2 * patience):
		require.Fail(t, "it never led")
	}
	require.ErrorIs(t, done.fenced, leaselock.ErrFenced, "the fence does not know of the lease")
	require.NoError(t, done.read)
	for what, err := range map[string]error{"creation": done.created, "status": done.status, "deletion": done.deleted} {
		require.ErrorIs(t, err, leaselock.ErrFenced, what)
	}
	require.False(t, p.wrote(t))
	select {
	case err := <-p.ended:
		require.ErrorContains(t, err, "leader election lost")
	case <-time.After(patience):
		require.Fail(t, "it continues without a lease")
	}
}

// withoutRenewal is a kubeconfig of a process that may create its lease and not change it.
func withoutRenewal(t *testing.T, namespace string) string {
	t.Helper()
	const name = "unrenewed"
	testkit.Identity(t, namespace, name, []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "watch"}}})
	testkit.GrantCluster(t, namespace, name, []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch", "create", "update", "delete"}},
		{APIGroups: []string{""}, Resources: []string{"pods", "endpoints", "services"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"apps"}, Resources: []string{"daemonsets", "deployments"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"},
			Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"admissionregistration.k8s.io"},
			Resources: []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}, Verbs: []string{"get", "list", "watch"}},
	})
	token, err := testkit.Cluster().Token(t.Context(), namespace, name)
	require.NoError(t, err)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, testkit.Cluster().TokenKubeconfig(kubeconfig, token))
	return kubeconfig
}

// attempts are what became of the requests of a process whose lease is no longer renewed.
type attempts struct{ fenced, read, created, status, deleted error }

// tryOnceFenced waits until the fence refuses, and then tries each way to the API server that a reconciler has. It waits much longer than
// the renew deadline, which is over at some time also where everything is slow.
func tryOnceFenced(ctx context.Context, rt *runkit.Runtime) attempts {
	refuses := func(context.Context) (bool, error) { return rt.Fence.Check() != nil, nil }
	_ = wait.PollUntilContextTimeout(ctx, tick, 10*time.Second, true, refuses)
	written := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "written", Namespace: rt.Namespace}}
	return attempts{
		fenced:  rt.Fence.Check(),
		read:    client.IgnoreNotFound(rt.Uncached.Get(ctx, client.ObjectKeyFromObject(written), &corev1.ConfigMap{})),
		created: rt.Client.Create(ctx, written.DeepCopy()),
		status:  rt.Client.Status().Update(ctx, written.DeepCopy()),
		deleted: rt.Client.Delete(ctx, written.DeepCopy()),
	}
}
