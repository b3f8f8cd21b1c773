//go:build !fast

package preconditions

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/upgrade/fixture"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

// may reports whether im-monitor may delete InstanceManagers.
func may(s *fixture.Scenario) bool {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:" + s.Namespace + ":" + world.IMMonitor,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: s.Namespace, Verb: "delete", Group: v1beta2.GroupVersion.Group,
			Resource: "instancemanagers"},
	}}
	require.NoError(s.T, s.Admin.Create(s.Ctx, review))
	return review.Status.Allowed
}

// withoutDeletion takes the right to delete InstanceManagers from im-monitor's role, and returns the role as it was.
func withoutDeletion(s *fixture.Scenario) *rbacv1.Role {
	role := &rbacv1.Role{}
	require.NoError(s.T, s.Admin.Get(s.Ctx, client.ObjectKey{Namespace: s.Namespace, Name: "drover-im-monitor"}, role))
	before := role.DeepCopy()
	for i := range role.Rules {
		if slices.Contains(role.Rules[i].Resources, "instancemanagers") {
			role.Rules[i].Verbs = slices.DeleteFunc(role.Rules[i].Verbs, func(verb string) bool { return verb == "delete" })
		}
	}
	require.NoError(s.T, s.Admin.Update(s.Ctx, role))
	require.Eventually(s.T, func() bool { return !may(s) }, fixture.Patience, testkit.Poll)
	return before
}

// pods returns the UIDs of the pods of v2 instance managers.
func pods(s *fixture.Scenario) (out []string) {
	var list corev1.PodList
	require.NoError(s.T, s.List(s.Ctx, &list, client.MatchingLabels{v1beta2.LabelDataEngine: v1beta2.DataEngineV2}))
	for _, p := range list.Items {
		out = append(out, string(p.UID))
	}
	slices.Sort(out)
	return out
}

// K7: an upgrade that would stop past the point of no return, because im-monitor may not delete the old InstanceManager, is refused
// before an engine, a frontend or a pod is touched.
func TestAnUpgradeThatARightWouldStopIsRefusedBeforeAnythingIsTouched(t *testing.T) {
	s := fixture.Begin(t)
	s.Attached("whole", near, 3, nil)
	before, running := s.Untouched("whole"), pods(s)
	refused := func(name string, parts ...string) {
		s.Ordered(name, fixture.Image("refused"), near)
		m := s.Reaches(name, v1beta2.UpgradeStateError)
		for _, part := range append(parts, "RequestRefused: im-monitor", "may not delete InstanceManager instance-manager-") {
			require.Contains(t, m.Status.ErrorMessage, part)
		}
		require.Equal(t, before, s.Untouched("whole"))
		require.Equal(t, running, pods(s))
		require.NoError(t, s.Admin.Delete(s.Ctx, m))
	}
	role := withoutDeletion(s)
	refused("without-a-right", "system:serviceaccount:"+s.Namespace+":im-monitor", "cannot delete resource")
	role.ResourceVersion = ""
	require.NoError(t, s.Admin.Update(s.Ctx, role))
	require.Eventually(t, func() bool { return may(s) }, fixture.Patience, testkit.Poll)

	s.Written("whole")
	s.StartChecker()
	s.Ordered("allowed", fixture.Image("allowed"), near)
	s.Reaches("allowed", v1beta2.UpgradeStateCompleted)
	s.Done()
}
