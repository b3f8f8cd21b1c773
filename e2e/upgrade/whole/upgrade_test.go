package whole

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
)

// story is a World and the test that it is told in.
type story struct {
	*world.World
	t   *testing.T
	ctx context.Context
}

func begin(t *testing.T) *story {
	t.Helper()
	ctx, w := stage(t)
	return &story{World: w, t: t, ctx: ctx}
}

// volume is attached to a node and written to.
func (s *story) volume(name, node string) {
	s.t.Helper()
	require.NoError(s.t, s.Order(s.ctx, name, v1beta2.DataEngineV2, 3, nil))
	require.NoError(s.t, s.Attach(s.ctx, name, node, patience))
	require.NoError(s.t, s.WaitRobust(s.ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(s.t, s.WriteOn(s.ctx, name, 5*time.Millisecond))
}

// end holds a volume's workload against what was promised: nothing lost, and no pause that a person would notice.
func (s *story) end(name string) {
	s.t.Helper()
	seen, err := s.StopWriting(s.ctx, name)
	require.NoError(s.t, err)
	require.Empty(s.t, seen.Harm())
	s.t.Logf("%s: %d writes, the longest pause %s", name, seen.Writes, seen.MaxPause)
	require.NoError(s.t, s.Verify(s.ctx, name))
	require.NoError(s.t, s.NoHarm(s.ctx))
	require.NoError(s.t, s.LetGo(s.ctx, name, patience))
	require.NoError(s.t, s.DeleteVolume(s.ctx, name))
}

func (s *story) upgrade(name string, nodes ...string) *v1beta2.DataEngineUpgradeManager {
	s.t.Helper()
	m := &v1beta2.DataEngineUpgradeManager{}
	m.Name, m.Namespace = name, s.Namespace
	m.Spec.DataEngine, m.Spec.Nodes = v1beta2.DataEngineV2, nodes
	require.NoError(s.t, s.Admin.Create(s.ctx, m))
	return m
}

// reaches waits until the upgrade is in a state, and tells what each node's upgrade says meanwhile.
func (s *story) reaches(name, state string, within time.Duration) *v1beta2.DataEngineUpgradeManager {
	s.t.Helper()
	found := &v1beta2.DataEngineUpgradeManager{}
	require.NoError(s.t, s.Wait(s.ctx, name+" to be "+state, within, func(ctx context.Context) (string, error) {
		if err := s.Get(ctx, name, found); err != nil || found.Status.State == state {
			return "", err
		}
		return s.said(ctx, found)
	}))
	return found
}

func (s *story) said(ctx context.Context, m *v1beta2.DataEngineUpgradeManager) (string, error) {
	var nodes v1beta2.NodeDataEngineUpgradeList
	if err := s.List(ctx, &nodes); err != nil {
		return "", err
	}
	lines := []string{fmt.Sprintf("it is %s: %s %s", m.Status.State, m.Status.ErrorMessage, world.Say(m.Status.Conditions))}
	for _, u := range nodes.Items {
		lines = append(lines, fmt.Sprintf("%s is %s: %s %v", u.Name, u.Status.State, world.Say(u.Status.Conditions), u.Status.Volumes))
	}
	return strings.Join(lines, "\n"), nil
}

// U1: the third set-up of the document. U8: what is detached, and what is v1, is left alone.
func TestThreeNodesAreUpgradedUnderAWorkload(t *testing.T) {
	s := begin(t)
	s.volume("vol-1", scenarios.Near)
	s.volume("vol-2", scenarios.Far)
	s.volume("vol-3", scenarios.Third)
	require.NoError(t, s.Order(s.ctx, "v1", v1beta2.DataEngineV1, 2, nil))
	require.NoError(t, s.Attach(s.ctx, "v1", scenarios.Near, patience))
	require.NoError(t, s.WaitRobust(s.ctx, "v1", v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, s.Order(s.ctx, "detached", v1beta2.DataEngineV2, 3, nil))
	require.NoError(t, s.Attach(s.ctx, "detached", scenarios.Far, patience))
	require.NoError(t, s.LetGo(s.ctx, "detached", patience))
	bystanders := append(s.specs("v1"), s.specs("detached")...)
	require.NoError(t, s.Set(s.ctx, "default-instance-manager-image", "longhornio/longhorn-instance-manager:second"))
	s.upgrade("upgrade")
	m := s.reaches("upgrade", v1beta2.UpgradeStateCompleted, 6*time.Minute)
	require.Len(t, m.Status.UpgradedNodes, 3)
	for _, name := range []string{"vol-1", "vol-2", "vol-3"} {
		require.NoError(t, s.WaitRobust(s.ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
		s.end(name)
	}
	require.Equal(t, bystanders, append(s.specs("v1"), s.specs("detached")...), "U8")
	for _, name := range []string{"v1", "detached"} {
		require.NoError(t, s.LetGo(s.ctx, name, patience))
		require.NoError(t, s.DeleteVolume(s.ctx, name))
	}
	s.open()
}

// specs are what is wanted of a volume's parts.
func (s *story) specs(volume string) []any {
	s.t.Helper()
	var out []any
	var engines v1beta2.EngineList
	var replicas v1beta2.ReplicaList
	which := client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(volume)}
	require.NoError(s.t, s.List(s.ctx, &engines, which))
	require.NoError(s.t, s.List(s.ctx, &replicas, which))
	for _, e := range engines.Items {
		e.Spec.LookRequestedAt = ""
		out = append(out, e.Name, e.Spec)
	}
	for _, r := range replicas.Items {
		out = append(out, r.Name, r.Spec)
	}
	return out
}

// open: UPG-4.
func (s *story) open() {
	s.t.Helper()
	for _, node := range []string{scenarios.Near, scenarios.Far, scenarios.Third} {
		n := &v1beta2.Node{}
		require.NoError(s.t, s.Get(s.ctx, node, n))
		require.False(s.t, n.Spec.UpgradeRequested, "UPG-4: %s", node)
	}
}

// state waits until the near node's upgrade has come to a state, or beyond.
func (s *story) state(name string, any ...string) {
	s.t.Helper()
	require.NoError(s.t, s.Wait(s.ctx, fmt.Sprintf("%s to be one of %v", name, any), patience, func(ctx context.Context) (string, error) {
		u := &v1beta2.NodeDataEngineUpgrade{}
		if err := s.Get(ctx, name, u); client.IgnoreNotFound(err) != nil {
			return "", err
		}
		if slices.Contains(any, u.Status.State) {
			return "", nil
		}
		return fmt.Sprintf("it is %q: %s %v", u.Status.State, world.Say(u.Status.Conditions), u.Status.Volumes), nil
	}))
}

// U5: whichever controller dies in whichever step, the volumes go on and the upgrade ends.
func TestControllersDieInTheMiddle(t *testing.T) {
	s := begin(t)
	s.volume("living", scenarios.Near)
	require.NoError(t, s.Set(s.ctx, "default-instance-manager-image", "longhornio/longhorn-instance-manager:fourth"))
	m := s.upgrade("dying", scenarios.Near)
	later := []string{
		v1beta2.UpgradeStateSwitchingOver, v1beta2.UpgradeStateDetachingReplicas, v1beta2.UpgradeStateUpgradingInstanceManager,
		v1beta2.UpgradeStateSwitchingBack, v1beta2.UpgradeStateRebuildingReplica, v1beta2.UpgradeStateCompleted,
	}
	for i, dies := range []string{world.UpgradeController, world.AttachController, world.IMMonitor, world.UpgradeController} {
		s.state(m.Name+"-"+scenarios.Near, later[i:]...)
		here.Process(dies).Kill()
		require.NoError(t, here.Process(dies).Restart())
	}
	s.reaches(m.Name, v1beta2.UpgradeStateCompleted, 4*time.Minute)
	require.NoError(t, s.WaitRobust(s.ctx, "living", v1beta2.VolumeRobustnessHealthy, patience))
	s.open()
	s.end("living")
}

// U6: an upgrade that is deleted while targets are away brings them home.
func TestADeletedUpgradeBringsEverythingHome(t *testing.T) {
	s := begin(t)
	s.volume("homing", scenarios.Near)
	require.NoError(t, s.Set(s.ctx, "default-instance-manager-image", "longhornio/longhorn-instance-manager:fifth"))
	m := s.upgrade("deleted", scenarios.Near)
	s.state(m.Name+"-"+scenarios.Near, v1beta2.UpgradeStateSwitchingOver, v1beta2.UpgradeStateDetachingReplicas)
	require.NoError(t, s.Admin.Delete(s.ctx, m))
	require.NoError(t, s.Wait(s.ctx, "the upgrade to go", patience, func(ctx context.Context) (string, error) {
		err := s.Get(ctx, m.Name, m)
		if err == nil {
			return s.said(ctx, m)
		}
		return "", client.IgnoreNotFound(err)
	}))
	v := &v1beta2.Volume{}
	require.NoError(t, s.Get(s.ctx, "homing", v))
	require.Empty(t, v.Spec.TargetNodeID)
	require.NoError(t, s.WaitRobust(s.ctx, "homing", v1beta2.VolumeRobustnessHealthy, patience))
	s.open()
	s.end("homing")
}

// U4: what takes too long before the instance manager is replaced is rolled back; a change of the spec resumes it.
func TestAnUpgradeThatFailsHalfWayIsRolledBackAndResumed(t *testing.T) {
	s := begin(t)
	s.volume("halfway", scenarios.Near)
	require.NoError(t, s.Set(s.ctx, "default-instance-manager-image", "longhornio/longhorn-instance-manager:sixth"))
	m := &v1beta2.DataEngineUpgradeManager{}
	m.Name, m.Namespace = "halfway", s.Namespace
	m.Spec = v1beta2.DataEngineUpgradeManagerSpec{DataEngine: v1beta2.DataEngineV2, Nodes: []string{scenarios.Near},
		Timeouts: map[string]v1beta2.StateTimeout{v1beta2.UpgradeStateDetachingReplicas: "1ms"}}
	require.NoError(t, s.Admin.Create(s.ctx, m))
	m = s.reaches("halfway", v1beta2.UpgradeStateError, patience)
	require.Contains(t, m.Status.ErrorMessage, "Gave up in state detaching-replicas")
	s.open()
	v := &v1beta2.Volume{}
	require.NoError(t, s.Get(s.ctx, "halfway", v))
	require.Empty(t, v.Spec.TargetNodeID)
	require.NoError(t, s.WaitRobust(s.ctx, "halfway", v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, status.MergeSpec(s.ctx, s.Admin, m, map[string]any{"timeouts": nil}))
	m = s.reaches("halfway", v1beta2.UpgradeStateCompleted, patience)
	require.Equal(t, []string{scenarios.Near}, m.Status.UpgradedNodes)
	s.open()
	s.end("halfway")
}

// U2: a single replica is refused before anything is touched.
func TestASingleReplicaIsRefused(t *testing.T) {
	s := begin(t)
	require.NoError(t, s.Order(s.ctx, "single", v1beta2.DataEngineV2, 1, nil))
	require.NoError(t, s.Attach(s.ctx, "single", scenarios.Near, patience))
	require.NoError(t, s.Set(s.ctx, "default-instance-manager-image", "longhornio/longhorn-instance-manager:third"))
	s.upgrade("refused")
	m := s.reaches("refused", v1beta2.UpgradeStateError, patience)
	require.Contains(t, m.Status.ErrorMessage, "volume single: TooFewHealthyReplicas")
	require.Equal(t, v1beta2.ReasonUpgradeBlocked, conditions.Reason(m.Status.Conditions, v1beta2.UpgradePreflight))
	require.NoError(t, s.LetGo(s.ctx, "single", patience))
	require.NoError(t, s.DeleteVolume(s.ctx, "single"))
}
