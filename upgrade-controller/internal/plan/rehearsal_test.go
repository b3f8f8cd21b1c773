package plan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/upgrade-controller/internal/model"
	"drover.dev/drover/upgrade-controller/internal/plan"
)

// untried is an upgrade whose requests no binary has tried.
func untried() *v1beta2.DataEngineUpgradeManager {
	return manager("upgrade", v1beta2.UpgradeStateInitializing, func(m *v1beta2.DataEngineUpgradeManager) {
		m.Status.RehearsalRequestedAt, m.Status.Rehearsals = "", nil
	})
}

// K7: what each binary will have to write is tried before a node is planned.
func TestNoNodeIsPlannedBeforeEachBinaryHasTriedItsRequests(t *testing.T) {
	m := untried()
	v := plan.Decide(world(m, nil))
	asked := v.Status.RehearsalRequestedAt
	require.NotEmpty(t, asked)
	for i, binary := range plan.Triers {
		m.Status = v.Status
		require.Equal(t, v1beta2.UpgradeStateInitializing, v.Status.State)
		require.Equal(t, v1beta2.ReasonTryingRequests, reason(v))
		require.Equal(t, v1beta2.ReasonTryingRequests, conditions.Reason(v.Status.Conditions, v1beta2.UpgradePreflight))
		require.Contains(t, conditions.Get(v.Status.Conditions, v1beta2.UpgradeProgressing).Message, binary)
		require.Empty(t, v.Status.UpgradeNodes)
		require.Equal(t, now.Add(10*time.Minute), v.RequeueAt)
		model.Answer(m, plan.Triers[:i+1]...)
		v = plan.Decide(world(m, nil))
	}
	require.Equal(t, v1beta2.UpgradeStateUpgrading, v.Status.State)
	require.Equal(t, asked, v.Status.RehearsalRequestedAt, "it is asked once")
}

func TestARequestThatIsRefusedBlocksTheUpgradeBesideTheOtherBlockers(t *testing.T) {
	m := manager("upgrade", v1beta2.UpgradeStateInitializing, func(m *v1beta2.DataEngineUpgradeManager) {
		m.Status.Rehearsals["im-monitor"] = v1beta2.UpgradeRehearsal{RequestedAt: m.Status.RehearsalRequestedAt, User: "kubernetes-admin",
			Refused: []string{"delete InstanceManager im-1: a policy says no"}}
	})
	v := plan.Decide(world(m, func(w *plan.World) { w.Cluster.Volumes["vol-1"].Object.Spec.MigrationNodeID = "node-2" }))
	require.Equal(t, v1beta2.UpgradeStateError, v.Status.State)
	for _, part := range []string{"volume vol-1: Migrating",
		"RequestRefused: im-monitor (as kubernetes-admin) may not delete InstanceManager im-1: a policy says no"} {
		require.Contains(t, v.Status.ErrorMessage, part)
	}
	require.Equal(t, v1beta2.ReasonUpgradeBlocked, conditions.Reason(v.Status.Conditions, v1beta2.UpgradePreflight))
	require.Empty(t, v.Create)

	m.Status, m.Generation = v.Status, 2
	resumed := plan.Decide(world(m, nil))
	require.Equal(t, v1beta2.UpgradeStateInitializing, resumed.Status.State)
	m.Status = resumed.Status
	again := plan.Decide(world(m, func(w *plan.World) { w.Now = now.Add(time.Minute) }))
	require.Equal(t, v1beta2.ReasonTryingRequests, reason(again), "the answers of before count for nothing")
}

func TestABinaryThatDoesNotTryItsRequestsBlocksTheUpgradeInTheEnd(t *testing.T) {
	m := untried()
	m.Status = plan.Decide(world(m, nil)).Status
	model.Answer(m, "attach-controller", "snapshot-controller", "upgrade-controller")
	late := plan.Decide(world(m, func(w *plan.World) { w.Now = now.Add(10 * time.Minute) }))
	require.Equal(t, v1beta2.UpgradeStateError, late.Status.State)
	require.Contains(t, late.Status.ErrorMessage, "RequestsUntried: im-monitor has not tried")
	require.NotContains(t, late.Status.ErrorMessage, "attach-controller has not tried")
}

// The check of the images may take all of its time: then the binaries still get theirs.
func TestBinariesAreGivenTimeHoweverLongTheImagesTook(t *testing.T) {
	m := untried()
	pulling := func(w *plan.World) { w.Images = nil }
	m.Status = plan.Decide(world(m, pulling)).Status
	require.Equal(t, v1beta2.ReasonCheckingImages, conditions.Reason(m.Status.Conditions, v1beta2.UpgradePreflight))
	pulled := now.Add(10 * time.Minute)
	v := plan.Decide(world(m, func(w *plan.World) { w.Now = pulled }))
	require.Equal(t, v1beta2.UpgradeStateInitializing, v.Status.State, "%s", v.Status.ErrorMessage)
	require.Equal(t, v1beta2.ReasonTryingRequests, reason(v))
	require.Equal(t, pulled.Add(10*time.Minute), v.RequeueAt)
	m.Status = v.Status
	model.Answer(m, plan.Triers...)
	v = plan.Decide(world(m, func(w *plan.World) { w.Now = pulled.Add(time.Second) }))
	require.Equal(t, v1beta2.UpgradeStateUpgrading, v.Status.State, "%s", v.Status.ErrorMessage)
}
