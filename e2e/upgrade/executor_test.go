//go:build !fast

package upgrade

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// executor runs a live upgrade with attach-controller and im-monitor; the test writes what upgrade-controller would write.
type executor struct {
	*world.World
	t      *testing.T
	ctx    context.Context
	volume string
	// within is the longest allowed pause of the workload.
	within time.Duration
	// since is when the ticket was satisfied.
	since string
}

// attached is a volume with three replicas, attached to the near node and written to.
func attached(t *testing.T, volume string) *executor {
	t.Helper()
	ctx, w := fixture(t)
	h := &executor{World: w, t: t, ctx: ctx, volume: volume, within: 5 * time.Second}
	require.NoError(t, w.Order(ctx, volume, v1beta2.DataEngineV2, 3, nil))
	require.NoError(t, w.Attach(ctx, volume, scenarios.Near, patience))
	require.NoError(t, w.WaitRobust(ctx, volume, v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.WriteOn(ctx, volume, 5*time.Millisecond))
	require.NoError(t, w.WaitWritten(ctx, volume, patience))
	require.NoError(t, w.WaitTicket(ctx, volume, "by-hand", true, "", patience))
	h.since = h.satisfied()
	return h
}

// satisfied is the time since which the ticket is satisfied.
func (h *executor) satisfied() string {
	h.t.Helper()
	a := &v1beta2.VolumeAttachment{}
	require.NoError(h.t, h.Get(h.ctx, h.volume, a))
	ticket := a.Status.AttachmentTicketStatuses["by-hand"]
	require.True(h.t, ticket.Satisfied)
	return ticket.Conditions[0].LastTransitionTime
}

// end stops the workload and checks it: no write was lost, and no pause was longer than allowed.
func (h *executor) end() {
	h.t.Helper()
	seen, err := h.StopWriting(h.ctx, h.volume)
	require.NoError(h.t, err)
	require.Empty(h.t, seen.Harm())
	h.t.Logf("%d writes, the longest pause %s", seen.Writes, seen.MaxPause)
	require.Less(h.t, seen.Pause(), h.Stretched(h.within))
	require.Equal(h.t, h.since, h.satisfied(), "the ticket was not satisfied in between")
	require.NoError(h.t, h.Verify(h.ctx, h.volume))
	require.NoError(h.t, h.NoHarm(h.ctx))
	require.NoError(h.t, h.LetGo(h.ctx, h.volume, patience))
	require.NoError(h.t, h.DeleteVolume(h.ctx, h.volume))
}

func (h *executor) own(name string, into client.Object) client.Object {
	into.SetName(name)
	into.SetNamespace(h.Namespace)
	return into
}

// moves requests the target on a node ("" is the original node), as upgrade-controller does, and waits until the other engine is
// gone; meanwhile is called in between.
func (h *executor) moves(node string, meanwhile ...func()) {
	h.t.Helper()
	require.NoError(h.t, status.MergeSpec(h.ctx, h.Admin, h.own(h.volume, &v1beta2.Volume{}), map[string]any{"targetNodeID": node}))
	for _, f := range meanwhile {
		f()
	}
	require.NoError(h.t, h.WaitVolume(h.ctx, h.volume, "to have its target on "+node, patience, func(v *v1beta2.Volume) string {
		if v.Status.CurrentTargetNodeID != node || v.Status.CurrentNodeID != scenarios.Near ||
			v.Status.State != v1beta2.VolumeStateAttached {
			return fmt.Sprintf("it is %s on %q with its target on %q", v.Status.State, v.Status.CurrentNodeID, v.Status.CurrentTargetNodeID)
		}
		return ""
	}))
	at := node
	if at == "" {
		at = scenarios.Near
	}
	h.waits("the other engine to end", func() (string, error) {
		nodes, err := h.EngineNodes(h.ctx, h.volume)
		if err != nil || len(nodes) == 1 && nodes[0] == at {
			return "", err
		}
		return fmt.Sprintf("engines are on %v", nodes), nil
	})
}

func (h *executor) waits(what string, check func() (string, error)) {
	h.t.Helper()
	require.NoError(h.t, h.Wait(h.ctx, what, patience, func(context.Context) (string, error) { return check() }))
}

// U1, UPG-3.
func TestATargetMovesThereAndBackUnderAWorkload(t *testing.T) {
	h := attached(t, "moving")
	for range 2 {
		h.moves(scenarios.Far)
		h.moves(scenarios.Third)
		h.moves("")
	}
	h.end()
}

const imageAfter = "longhornio/longhorn-instance-manager:upgraded"

// step writes upgrade-controller's status of the near node.
func (h *executor) step(state, replica string, more map[string]any) {
	h.t.Helper()
	fields := map[string]any{"state": state, "volumes": map[string]any{h.volume: map[string]any{"replica": replica,
		"originalNodeID": scenarios.Near}}}
	for k, v := range more {
		fields[k] = v
	}
	require.NoError(h.t, status.MergeStatus(h.ctx, h.Admin, h.own("by-hand", &v1beta2.NodeDataEngineUpgrade{}), fields))
}

// U1, UPG-1, UPG-3: a volume is relocated from a node whose instance manager is replaced, and switched back.
func TestANodeIsUpgradedUnderAWorkload(t *testing.T) {
	h := attached(t, "around")
	old := &v1beta2.InstanceManager{}
	require.NoError(t, h.Get(h.ctx, h.InstanceManager(scenarios.Near, v1beta2.DataEngineV2), old))
	r, err := h.ReplicaOn(h.ctx, h.volume, scenarios.Near)
	require.NoError(t, err)
	node := h.own(scenarios.Near, &v1beta2.Node{})
	require.NoError(t, status.MergeSpec(h.ctx, h.Admin, node, map[string]any{"upgradeRequested": true}))
	require.NoError(t, h.Set(h.ctx, "default-instance-manager-image", imageAfter))
	u := &v1beta2.NodeDataEngineUpgrade{Spec: v1beta2.NodeDataEngineUpgradeSpec{NodeID: scenarios.Near, DataEngine: v1beta2.DataEngineV2,
		InstanceManagerImage: imageAfter, DataEngineUpgradeManager: "by-hand"}}
	require.NoError(t, h.Admin.Create(h.ctx, h.own("by-hand", u)))
	h.step(v1beta2.UpgradeStateSwitchingOver, r.Name, nil)
	h.moves(scenarios.Far)
	h.step(v1beta2.UpgradeStateDetachingReplicas, r.Name, nil)
	h.waits("the replica to be out", func() (string, error) {
		now := &v1beta2.Replica{}
		err := h.Get(h.ctx, r.Name, now)
		if err == nil && now.Spec.FailedAt != "" && now.Status.CurrentState == v1beta2.InstanceStateStopped {
			return "", nil
		}
		return fmt.Sprintf("it is %s, failed at %q", now.Status.CurrentState, now.Spec.FailedAt), err
	})
	h.step(v1beta2.UpgradeStateUpgradingInstanceManager, r.Name,
		map[string]any{"oldInstanceManager": map[string]any{"name": old.Name, "uid": string(old.UID)}})
	h.waits("the new instance manager to run", func() (string, error) {
		im := &v1beta2.InstanceManager{}
		err := h.Get(h.ctx, v1beta2.InstanceManagerName(scenarios.Near, imageAfter, v1beta2.DataEngineV2), im)
		if client.IgnoreNotFound(err) != nil {
			return "", err
		}
		if im.Status.CurrentState == v1beta2.InstanceManagerStateRunning && im.Status.APIVersion != 0 {
			return "", nil
		}
		before := &v1beta2.InstanceManager{}
		if err := h.Get(h.ctx, old.Name, before); client.IgnoreNotFound(err) != nil {
			return "", err
		}
		return fmt.Sprintf("it is %q; the old one is %q, %v", im.Status.CurrentState, before.Status.CurrentState, before.Status.Conditions),
			nil
	})
	h.waits("the frontend to be adopted", func() (string, error) {
		var list v1beta2.EngineFrontendList
		if err := h.List(h.ctx, &list, client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(h.volume)}); err != nil {
			return "", err
		}
		for _, f := range list.Items {
			if f.Status.CurrentState != v1beta2.InstanceStateRunning || f.Status.InstanceManagerName == old.Name {
				return fmt.Sprintf("it is %s on %s", f.Status.CurrentState, f.Status.InstanceManagerName), nil
			}
		}
		return "", nil
	})
	h.step(v1beta2.UpgradeStateSwitchingBack, r.Name, nil)
	h.moves("")
	h.step(v1beta2.UpgradeStateRebuildingReplica, r.Name, nil)
	require.NoError(t, h.WaitRobust(h.ctx, h.volume, v1beta2.VolumeRobustnessHealthy, patience))
	h.step(v1beta2.UpgradeStateCompleted, r.Name, nil)
	require.NoError(t, status.MergeSpec(h.ctx, h.Admin, node, map[string]any{"upgradeRequested": false}))
	v := &v1beta2.Volume{}
	require.NoError(t, h.Get(h.ctx, h.volume, v))
	require.Equal(t, imageAfter, v.Spec.Image)
	require.NoError(t, h.Get(h.ctx, r.Name, &v1beta2.Replica{}), "the same replica was rebuilt")
	h.end()
}
