//go:build !fast

package operators

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/upgrade/fixture"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const near, far = scenarios.Near, scenarios.Far

// halfWay begins an upgrade and stops it where the near node's targets are relocated and its replicas are about to be removed: none is
// removed until Heal is called.
func halfWay(s *fixture.Scenario, name string, nodes ...string) {
	s.T.Helper()
	require.NoError(s.T, s.Inject(s.Ctx, world.Fault{Kind: "error", Code: "Unavailable", Method: "ReplicaRemove"}))
	s.Ordered(name, fixture.Image(name), nodes...)
	s.Node(name, near, v1beta2.UpgradeStateDetachingReplicas)
}

// running is the running v2 instance manager of a node.
func running(s *fixture.Scenario, node string) *v1beta2.InstanceManager {
	s.T.Helper()
	var list v1beta2.InstanceManagerList
	require.NoError(s.T, s.List(s.Ctx, &list))
	i := slices.IndexFunc(list.Items, func(m v1beta2.InstanceManager) bool {
		return m.Spec.NodeID == node && m.Spec.DataEngine == v1beta2.DataEngineV2 &&
			m.Status.CurrentState == v1beta2.InstanceManagerStateRunning
	})
	require.GreaterOrEqual(s.T, i, 0, "none runs on %s", node)
	return &list.Items[i]
}

// U6: a user deletes or moves volumes during the upgrade: the upgrade does not revert that, and continues with the others.
func TestAnUpgradeKeepsWhatTheUserDeletesOrMoves(t *testing.T) {
	s := fixture.Begin(t)
	for _, name := range []string{"kept", "deleted", "moved"} {
		s.Volume(name, near)
	}
	s.StartChecker()
	halfWay(s, "people", near)
	s.Let("deleted")
	require.NoError(t, s.DeleteVolume(s.Ctx, "deleted"))
	s.Let("moved")
	require.NoError(t, s.Heal(s.Ctx))
	require.NoError(t, s.LetGo(s.Ctx, "moved", fixture.Patience))
	require.NoError(t, s.Attach(s.Ctx, "moved", far, fixture.Patience))
	require.NoError(t, s.WaitVolumeGone(s.Ctx, "deleted", fixture.Patience))
	require.Equal(t, []string{near}, s.Reaches("people", v1beta2.UpgradeStateCompleted).Status.UpgradedNodes)
	v := &v1beta2.Volume{}
	require.NoError(t, s.Get(s.Ctx, "moved", v))
	require.Equal(t, []string{far, far, "", ""},
		[]string{v.Spec.NodeID, v.Status.CurrentNodeID, v.Spec.TargetNodeID, v.Status.CurrentTargetNodeID})
	require.NoError(t, s.Verify(s.Ctx, "moved"))
	s.Done()
	s.Gone("moved")
}

// U6: a person deletes the upgrade of a node: its targets are switched back and the node is uncordoned; its manager creates a new
// upgrade, which completes.
func TestADeletedUpgradeOfANodeIsCreatedAgain(t *testing.T) {
	s := fixture.Begin(t)
	s.Volume("again", near)
	s.StartChecker()
	halfWay(s, "again", near)
	first := &v1beta2.NodeDataEngineUpgrade{}
	require.NoError(t, s.Get(s.Ctx, world.NodeUpgrade("again", near), first))
	require.NoError(t, s.Admin.Delete(s.Ctx, first))
	require.NoError(t, s.Heal(s.Ctx))
	require.NoError(t, s.Wait(s.Ctx, "another upgrade of the node", fixture.Patience, func(ctx context.Context) (string, error) {
		u := &v1beta2.NodeDataEngineUpgrade{}
		if err := s.Get(ctx, first.Name, u); err != nil {
			return "", err
		}
		if u.UID != first.UID {
			return "", nil
		}
		return "it is still the first, and " + u.Status.State, nil
	}))
	m := s.Reaches("again", v1beta2.UpgradeStateCompleted)
	require.Equal(t, []string{near}, m.Status.UpgradedNodes)
	require.Empty(t, m.Status.ErrorMessage)
	s.Done()
}

// U6: the setting is changed back during the upgrade. The upgrade keeps its image on every node, and no running instance manager is
// ended because of the setting.
func TestAnUpgradeKeepsItsImageWhenTheSettingIsChangedBack(t *testing.T) {
	s := fixture.Begin(t)
	s.Volume("frozen", near)
	s.StartChecker()
	before := running(s, near).Spec.Image
	halfWay(s, "back", near, far)
	require.NoError(t, s.Set(s.Ctx, world.ImageSetting, before))
	require.NoError(t, s.Heal(s.Ctx))
	m := s.Reaches("back", v1beta2.UpgradeStateCompleted)
	require.Equal(t, []string{near, far}, m.Status.UpgradedNodes)
	for _, node := range []string{near, far} {
		require.Equal(t, fixture.Image("back"), running(s, node).Spec.Image, node)
	}
	s.Done()
}

// U4: the node is cordoned and drained while it is upgraded: the pod of its old instance manager is evicted. Its frontends survive that,
// the old instance manager starts once more, and the upgrade continues.
func TestANodeThatIsCordonedAndDrainedInTheMiddleIsUpgraded(t *testing.T) {
	s := fixture.Begin(t)
	s.Volume("drained", near)
	s.StartChecker()
	halfWay(s, "drain", near)
	require.NoError(t, s.Cordon(s.Ctx, near, true))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: running(s, near).Name}}
	require.NoError(t, s.Admin.Delete(s.Ctx, pod))
	require.NoError(t, s.Heal(s.Ctx))
	require.Equal(t, []string{near}, s.Reaches("drain", v1beta2.UpgradeStateCompleted).Status.UpgradedNodes)
	require.Equal(t, fixture.Image("drain"), running(s, near).Spec.Image)
	require.NoError(t, s.Cordon(s.Ctx, near, false))
	s.Done()
}
