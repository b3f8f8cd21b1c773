package testkit_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	longhorn "drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cluster"
)

func TestGrantedIsEveryCombinationOfARuleOnce(t *testing.T) {
	require.Equal(t, []testkit.Permission{
		{Group: "", Resource: "orphans", Verb: "get"},
		{Group: "", Resource: "pods", Verb: "get"},
		{Group: "longhorn.io", Resource: "orphans", Verb: "get"},
		{Group: "longhorn.io", Resource: "orphans/status", Verb: "get"},
		{Group: "longhorn.io", Resource: "pods", Verb: "get"},
	}, testkit.Granted([]rbacv1.PolicyRule{
		{APIGroups: []string{"longhorn.io"}, Resources: []string{"orphans/status", "orphans"}, Verbs: []string{"get"}},
		{APIGroups: []string{"", "longhorn.io"}, Resources: []string{"pods", "orphans"}, Verbs: []string{"get"}},
	}))
}

func TestUsedIsWhatOneServiceAccountAskedFor(t *testing.T) {
	request := func(user, resource, verb string) cluster.Request {
		return cluster.Request{User: user, Group: "longhorn.io", Resource: resource, Verb: verb}
	}
	require.Equal(t, []testkit.Permission{
		{Group: "longhorn.io", Resource: "nodes", Verb: "list"},
		{Group: "longhorn.io", Resource: "orphans/status", Verb: "patch"},
	}, testkit.Used([]cluster.Request{
		request("system:serviceaccount:a:im-monitor", "orphans/status", "patch"),
		request("system:serviceaccount:b:im-monitor", "orphans/status", "patch"),
		request("system:serviceaccount:a:im-monitor", "nodes", "list"),
		request("system:serviceaccount:a:orphan-controller", "orphans", "delete"),
		request("im-monitor", "orphans", "delete"),
		{User: "system:serviceaccount:a:im-monitor", Verb: "get"}, // a path such as /api
	}, "im-monitor"))
}

func TestWhatAnIdentityDoesIsInTheAuditLog(t *testing.T) {
	namespace := testkit.Namespace(t)
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{"longhorn.io"}, Resources: []string{"settings"}, Verbs: []string{"list"}},
	}
	mine := testkit.Client(t, testkit.Identity(t, namespace, "audited", rules))
	require.NoError(t, mine.List(t.Context(), &longhorn.SettingList{}, client.InNamespace(namespace)))
	require.Eventually(t, func() bool {
		requests, err := testkit.Cluster().AuditedRequests()
		return err == nil && slices.Equal(testkit.Granted(rules), testkit.Used(requests, "audited"))
	}, testkit.Timeout, 20*time.Millisecond)
}
