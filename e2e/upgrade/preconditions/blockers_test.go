//go:build !fast

package preconditions

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/upgrade/fixture"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// blocked is a volume that blocks the upgrade of the near node.
type blocked struct {
	name string
	// change sets its spec, act is called once it is attached.
	change func(*v1beta2.VolumeSpec)
	act    func(*fixture.Scenario, string)
	kinds  []string
}

var blockers = []blocked{
	{name: "single", change: func(spec *v1beta2.VolumeSpec) { spec.NumberOfReplicas = 1 }, kinds: []string{"TooFewHealthyReplicas"}},
	{name: "degraded", act: degrade, kinds: []string{"Degraded", "Rebuilding"}},
	{name: "moving", change: func(spec *v1beta2.VolumeSpec) {
		spec.AccessMode, spec.Migratable = v1beta2.AccessModeReadWriteMany, true
	}, act: migrate, kinds: []string{"Migrating"}},
	{name: "growing", act: grow, kinds: []string{"Expanding"}},
	{name: "source", act: clone, kinds: []string{"Cloning"}},
	{name: "restored", act: restore, kinds: nil},
	{name: "ublk", change: func(spec *v1beta2.VolumeSpec) { spec.Frontend = "ublk" }, kinds: []string{"UblkFrontend"}},
	// Four replicas on three nodes: two of them share one.
	{name: "doubled", change: func(spec *v1beta2.VolumeSpec) {
		spec.NumberOfReplicas, spec.ReplicaSoftAntiAffinity = 4, "enabled"
	}},
	{name: "skipped", kinds: []string{"SkippedVolumeAttached"}},
}

// degrade fails a replica, whose rebuild never ends.
func degrade(s *fixture.Scenario, name string) {
	require.NoError(s.T, s.HoldCopies(s.Ctx, name))
	r, err := s.ReplicaOn(s.Ctx, name, far)
	require.NoError(s.T, err)
	require.NoError(s.T, s.KillInstance(s.Ctx, far, r.Name))
	require.NoError(s.T, s.WaitVolume(s.Ctx, name, "to be rebuilt", fixture.Patience, func(*v1beta2.Volume) string {
		e := &v1beta2.Engine{}
		if err := s.Get(s.Ctx, name+"-e-0", e); err != nil {
			return err.Error()
		}
		for _, mode := range e.Status.ReplicaModeMap {
			if mode == v1beta2.ReplicaModeWO {
				return ""
			}
		}
		return "no replica is"
	}))
}

func migrate(s *fixture.Scenario, name string) {
	require.NoError(s.T, s.Ticket(s.Ctx, name, "csi-there", v1beta2.AttacherCSI, near, nil))
	require.NoError(s.T, s.DropTicket(s.Ctx, name, "by-hand"))
	require.NoError(s.T, s.Ticket(s.Ctx, name, "csi-target", v1beta2.AttacherCSI, far, nil))
	require.NoError(s.T, s.WaitTicket(s.Ctx, name, "csi-target", true, "", fixture.Patience))
}

func grow(s *fixture.Scenario, name string) {
	require.NoError(s.T, s.HoldCopies(s.Ctx, name))
	require.NoError(s.T, s.Grow(s.Ctx, name, 2*world.VolumeSize))
}

// clone starts a clone of the volume that never ends.
func clone(s *fixture.Scenario, name string) {
	require.NoError(s.T, s.HoldCopies(s.Ctx, "clone"))
	require.NoError(s.T, s.Order(s.Ctx, "clone", v1beta2.DataEngineV2, 2,
		func(spec *v1beta2.VolumeSpec) { spec.DataSource = "vol://" + name }))
	require.NoError(s.T, s.WaitVolume(s.Ctx, "clone", "to be filled", fixture.Patience, func(v *v1beta2.Volume) string {
		if c := v.Status.CloneStatus; c.State == v1beta2.CloneInitiated && c.Snapshot != "" {
			return ""
		}
		return "it is " + v.Status.CloneStatus.State
	}))
}

// restore starts a restore from a backup of this volume that never ends.
func restore(s *fixture.Scenario, name string) {
	require.NoError(s.T, s.Write(s.Ctx, name, 1, "first"))
	url, err := s.SaveBackup(s.Ctx, name, "backup", s.T.TempDir())
	require.NoError(s.T, err)
	require.NoError(s.T, s.HoldCopies(s.Ctx, "restoring"))
	require.NoError(s.T, s.Order(s.Ctx, "restoring", v1beta2.DataEngineV2, 3, func(spec *v1beta2.VolumeSpec) { spec.FromBackup = url }))
	require.NoError(s.T, s.WaitTicket(s.Ctx, "restoring", v1beta2.TicketID(v1beta2.AttacherRestore, "restoring"), true, "",
		fixture.Patience))
}

// U3: all blockers of the upgrade are reported at once, for every node, and no object was changed.
func TestAllBlockersOfAnUpgradeAreReportedAtOnce(t *testing.T) {
	s := fixture.Begin(t)
	var names, parts []string
	for _, b := range blockers {
		s.Attached(b.name, near, 3, b.change)
		if b.act != nil {
			b.act(s, b.name)
		}
		names = append(names, b.name)
		for _, kind := range b.kinds {
			parts = append(parts, "Nodes? "+near+"[^:]*, volume "+b.name+": "+kind+": ")
		}
	}
	parts = append(parts, "volume doubled: TwoReplicasOnNode: replicas doubled-r-", "volume clone: Cloning: ", "volume clone: NoFrontend: ",
		"volume restoring: Restoring: ", "volume restoring: NoFrontend: ",
		"Nodes? "+near+"[^:]*: ImageMissing: ",
		"Nodes? [^:]*"+far+"[^:]*: ImageMissing: it cannot run "+fixture.Image("missing")+": ErrImagePull",
		"Node node-9: UnknownNode: ")
	before := s.Untouched(names...)
	s.OrderedSo("all", fixture.Image("missing"), func(spec *v1beta2.DataEngineUpgradeManagerSpec) {
		spec.Nodes, spec.SkipVolumes = []string{near, far, third, "node-9"}, []string{"skipped"}
	})
	m := s.Reaches("all", v1beta2.UpgradeStateError)
	for _, part := range parts {
		require.Regexp(t, part, m.Status.ErrorMessage)
	}
	condition := conditions.Get(m.Status.Conditions, v1beta2.UpgradePreflight)
	require.Equal(t, v1beta2.ReasonUpgradeBlocked, condition.Reason)
	require.Equal(t, m.Status.ErrorMessage, condition.Message)
	require.Equal(t, before, s.Untouched(names...))
	require.NoError(t, s.Sweep(s.Ctx))
}

// U3: with the other nodes down no target can be relocated; that is reported together with the blockers of the volumes.
func TestWithoutAnotherNodeAnUpgradeIsRefused(t *testing.T) {
	s := fixture.Begin(t)
	s.Attached("alone", near, 3, nil)
	for _, node := range []string{far, third} {
		require.NoError(t, s.CutNode(s.Ctx, node))
	}
	for _, node := range []string{far, third} {
		require.NoError(t, s.WaitNode(s.Ctx, node, v1beta2.ConditionFalse, fixture.Patience))
	}
	s.Ordered("nowhere", fixture.Image("nowhere"))
	m := s.Reaches("nowhere", v1beta2.UpgradeStateError)
	for _, part := range []string{"Node " + near + ": NoOtherNode: ", "Nodes? [^:]*" + far + "[^:]*: NodeNotReady: ",
		"volume alone: TooFewHealthyReplicas: "} {
		require.Regexp(t, part, m.Status.ErrorMessage)
	}
	for _, node := range []string{far, third} {
		require.NoError(t, s.JoinNode(s.Ctx, node))
	}
	for _, node := range []string{far, third} {
		require.NoError(t, s.WaitNode(s.Ctx, node, v1beta2.ConditionTrue, fixture.Patience))
	}
	s.Open()
	require.NoError(t, s.WaitRobust(s.Ctx, "alone", v1beta2.VolumeRobustnessHealthy, fixture.Patience))
	s.Gone("alone")
}
