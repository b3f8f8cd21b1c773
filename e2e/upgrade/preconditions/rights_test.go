//go:build !fast

package preconditions

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/upgrade/fixture"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

// right is what an upgrade needs of a binary.
type right struct{ binary, verb, resource, sub string }

// whole names the resource as a Role does.
func (r right) whole() string { return strings.TrimSuffix(r.resource+"/"+r.sub, "/") }

// may reports whether the ServiceAccount of a binary has a right.
func may(s *fixture.Scenario, r right) bool {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:" + s.Namespace + ":" + r.binary,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: s.Namespace, Verb: r.verb, Group: v1beta2.GroupVersion.Group,
			Resource: r.resource, Subresource: r.sub},
	}}
	require.NoError(s.T, s.Admin.Create(s.Ctx, review))
	return review.Status.Allowed
}

// take takes a right from the role of a binary, and returns what gives it back.
func take(s *fixture.Scenario, r right) (giveBack func()) {
	role := &rbacv1.Role{}
	require.NoError(s.T, s.Admin.Get(s.Ctx, client.ObjectKey{Namespace: s.Namespace, Name: "drover-" + r.binary}, role))
	before := role.DeepCopy()
	var rules []rbacv1.PolicyRule
	for _, rule := range role.Rules {
		if !slices.Contains(rule.Resources, r.whole()) || !slices.Contains(rule.Verbs, r.verb) {
			rules = append(rules, rule)
			continue
		}
		without, others := *rule.DeepCopy(), *rule.DeepCopy()
		without.Resources = []string{r.whole()}
		without.Verbs = slices.DeleteFunc(without.Verbs, func(verb string) bool { return verb == r.verb })
		others.Resources = slices.DeleteFunc(others.Resources, func(resource string) bool { return resource == r.whole() })
		for _, part := range []rbacv1.PolicyRule{without, others} {
			if len(part.Verbs) > 0 && len(part.Resources) > 0 {
				rules = append(rules, part)
			}
		}
	}
	role.Rules = rules
	require.NoError(s.T, s.Admin.Update(s.Ctx, role))
	require.Eventually(s.T, func() bool { return !may(s, r) }, fixture.Patience, testkit.Poll, "%v stays", r)
	return func() {
		before.ResourceVersion = ""
		require.NoError(s.T, s.Admin.Update(s.Ctx, before))
		require.Eventually(s.T, func() bool { return may(s, r) }, fixture.Patience, testkit.Poll, "%v does not come back", r)
	}
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

// refusals returns a function that orders an upgrade, and checks that it is refused with these words before an engine, a frontend or a
// pod is touched.
func refusals(s *fixture.Scenario, volume string) func(name string, words ...string) {
	before, running := s.Untouched(volume), pods(s)
	return func(name string, words ...string) {
		s.T.Helper()
		s.Ordered(name, fixture.Image("refused"), near)
		m := s.Reaches(name, v1beta2.UpgradeStateError)
		for _, word := range append(words, "RequestRefused: ") {
			require.Contains(s.T, m.Status.ErrorMessage, word, name)
		}
		require.Equal(s.T, before, s.Untouched(volume))
		require.Equal(s.T, running, pods(s))
		require.NoError(s.T, s.Admin.Delete(s.Ctx, m))
	}
}

// K7: an upgrade that would stop past the point of no return, because a binary lacks a right, is refused before anything is touched:
// for each binary that takes part, by what it would do last.
func TestAnUpgradeThatARightWouldStopIsRefusedBeforeAnythingIsTouched(t *testing.T) {
	s := fixture.Begin(t)
	s.Attached("whole", near, 3, nil)
	refused := refusals(s, "whole")
	for _, r := range []right{
		{world.IMMonitor, "delete", "instancemanagers", ""},
		{world.AttachController, "delete", "engines", ""},
		{world.SnapshotController, "patch", "snapshots", "status"},
		{world.UpgradeController, "patch", "volumes", ""},
	} {
		giveBack := take(s, r)
		refused("without-"+r.binary, r.binary+" (as system:serviceaccount:"+s.Namespace+":"+r.binary+") may not ", "cannot "+r.verb+" resource")
		giveBack()
	}

	s.Written("whole")
	s.StartChecker()
	s.Ordered("allowed", fixture.Image("allowed"), near)
	s.Reaches("allowed", v1beta2.UpgradeStateCompleted)
	s.Done()
}

// K7: so is an upgrade that an admission policy would stop, because a binary runs with the kubeconfig of an administrator: the policy
// deletion-in-use lets the ServiceAccounts of the namespace delete what is in use, and nobody else. The binaries that delete nothing
// of the kind may run as anyone.
func TestAnUpgradeThatAPolicyWouldStopIsRefusedBeforeAnythingIsTouched(t *testing.T) {
	s := fixture.Begin(t)
	s.Attached("foreign", near, 3, nil)
	refused := refusals(s, "foreign")
	withPolicies(s)
	admin, err := s.AdminKubeconfig()
	require.NoError(t, err)
	as := func(binary, kubeconfig string) (before string) {
		before, err := s.Process(binary).RunAs(kubeconfig)
		require.NoError(t, err)
		return before
	}
	for binary, words := range map[string][]string{
		world.IMMonitor:        {"may not delete InstanceManager instance-manager-", "runs instances"},
		world.AttachController: {"may not delete Engine foreign-e-", "runs: its volume is in use"},
	} {
		own := as(binary, admin)
		refused("as-a-person-"+binary, append(words, "RequestRefused: "+binary, "deletion-in-use.longhorn.io")...)
		as(binary, own)
	}

	others := map[string]string{}
	for _, binary := range []string{world.SnapshotController, world.UpgradeController, world.OrphanController} {
		others[binary] = as(binary, admin)
	}
	s.Written("foreign")
	s.StartChecker()
	s.Ordered("others-as-a-person", fixture.Image("allowed-too"), near)
	s.Reaches("others-as-a-person", v1beta2.UpgradeStateCompleted)
	for binary, own := range others {
		as(binary, own)
	}
	s.Done()
}

// withPolicies installs the admission policies of a cluster until the test ends. The World has none, so that tests can delete what is
// in use.
func withPolicies(s *fixture.Scenario) {
	require.NoError(s.T, s.InstallPolicies(s.Ctx))
	s.T.Cleanup(func() {
		if err := s.RemovePolicies(context.Background()); err != nil {
			s.T.Errorf("removing the policies: %v", err)
		}
	})
	require.Eventually(s.T, func() bool {
		var engines v1beta2.EngineList
		require.NoError(s.T, s.List(s.Ctx, &engines))
		require.NotEmpty(s.T, engines.Items)
		return apierrors.IsForbidden(client.NewDryRunClient(s.Admin).Delete(s.Ctx, &engines.Items[0]))
	}, fixture.Patience, testkit.Poll, "the policies are not in force")
}
