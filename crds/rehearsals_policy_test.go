package crds_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/testkit"
)

// A binary that answers what it tried cannot let an upgrade seem to have ended, or answer for another binary.
func TestABinaryAnswersForItselfAloneWhatItTried(t *testing.T) {
	w := newWriter(t)
	w.install("policies/upgrade-rehearsals.yaml")
	m, err := w.create("{kind: DataEngineUpgradeManager, metadata: {name: upgrade}, spec: {dataEngine: v2}}")
	require.NoError(t, err)
	require.NoError(t, w.mergeStatus(m,
		"status: {state: initializing, rehearsalRequestedAt: now, rehearsals: {attach-controller: {requestedAt: now}}}"))
	rules := []rbacv1.PolicyRule{{APIGroups: []string{"longhorn.io"},
		Resources: []string{"dataengineupgrademanagers/status", "dataengineupgrademanagers"}, Verbs: []string{"get", "patch"}}}
	as := func(binary string) writer {
		return writer{t: t, namespace: w.namespace, client: testkit.Client(t, testkit.Identity(t, w.namespace, binary, rules))}
	}
	monitor := as("im-monitor")
	require.Eventually(t, func() bool { // until the API server holds to the policy
		changed := m.DeepCopy()
		changed.Object["status"].(map[string]any)["state"] = "completed"
		return monitor.client.Status().Patch(t.Context(), changed, client.MergeFrom(m), client.DryRunAll) != nil
	}, waitTimeout, waitPoll)
	requireRefused(t, monitor.mergeStatus(m.DeepCopy(), "status: {state: completed}"), "writes nothing but rehearsals")
	requireRefused(t, monitor.mergeStatus(m.DeepCopy(), "status: {rehearsals: {attach-controller: {requestedAt: later}}}"),
		"only its own entry")
	requireRefused(t, monitor.mergeStatus(m.DeepCopy(), "status: {rehearsals: {attach-controller: null}}"), "only its own entry")
	require.NoError(t, monitor.mergeStatus(m.DeepCopy(), "status: {rehearsals: {im-monitor: {requestedAt: now, refused: [denied]}}}"))
	require.NoError(t, monitor.mergeStatus(m.DeepCopy(), "status: {rehearsals: {im-monitor: {requestedAt: now, refused: null}}}"))
	require.NoError(t, as("upgrade-controller").mergeStatus(m.DeepCopy(), "status: {state: completed}"))
}
