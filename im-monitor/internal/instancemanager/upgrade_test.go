package instancemanager

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// inUpgrade is a live upgrade of the node to the new image that has come to a state.
func inUpgrade(state string) func(*World) {
	return func(w *World) {
		v2(w)
		w.Node.Spec.UpgradeRequested = true
		w.Upgrade = &Upgrade{State: state, Image: newImage, OldName: v1beta2.InstanceManagerName("node-1", oldImage, v1beta2.DataEngineV2),
			OldUID: "im-uid"}
		w.InstanceManager.Name = v1beta2.InstanceManagerName("node-1", w.InstanceManager.Spec.Image, v1beta2.DataEngineV2)
	}
}

func isOld(w *World) {
	old(w)
	w.InstanceManager.Name = v1beta2.InstanceManagerName("node-1", oldImage, v1beta2.DataEngineV2)
}

func ran(w *World) { w.InstanceManager.Status.CurrentState = v1beta2.InstanceManagerStateError }

func TestAnUpgradeReplacesTheInstanceManagerThatItNamed(t *testing.T) {
	engine, replica, frontend := v1beta2.InstanceTypeEngine, v1beta2.InstanceTypeReplica, v1beta2.InstanceTypeEngineFrontend
	time, third := inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager), "longhornio/longhorn-instance-manager:v1.11.0"
	mapped := func(w *World) { w.Mapped = []string{"engine vol-e-1 maps replica vol-r-1 on it"} }
	for _, c := range []struct {
		name  string
		world World
		want  Verdict
	}{
		{"the old one is asked first", world(time, isOld), Verdict{Ask: true}},
		{"with no engine, its pod goes, under a frontend that leads elsewhere",
			world(time, isOld, asked, listed(frontend, "running"), leads()), Verdict{Pod: DeletePod}},
		{"not under one of which no one knows where it leads", world(time, isOld, asked, listed(frontend, "running")), Verdict{}},
		{"nor one that suspends I/O", world(time, isOld, asked, listed(frontend, "suspended"),
			leads(func(f *Frontend) { f.State = "suspended" })), Verdict{}},
		{"nor one that is on its way", world(time, isOld, asked, listed(frontend, "running"),
			leads(func(f *Frontend) { f.Promoted = false })), Verdict{}},
		{"nor one whose target is on the same node",
			world(time, isOld, asked, listed(frontend, "running"), leads(func(f *Frontend) { f.TargetNode = "node-1" })), Verdict{}},
		{"nor one whose target is nowhere", world(time, isOld, asked, listed(frontend, "running"),
			leads(func(f *Frontend) { f.TargetNode = "" })), Verdict{}},
		{"nor one whose target no new list shows",
			world(time, isOld, asked, listed(frontend, "running"), leads(func(f *Frontend) { f.Serves = false })), Verdict{}},
		{"nor one of ublk", world(time, isOld, asked, listed(frontend, "running"), leads(func(f *Frontend) { f.Kind = "ublk" })),
			Verdict{}},
		{"nor where the pod keeps no records", world(time, isOld, asked, listed(frontend, "running"), leads(), noMount), Verdict{}},
		{"where it has no frontend the mount does not matter", world(time, isOld, asked, noMount), Verdict{Pod: DeletePod}},
		{"and whatever data is at rest there", world(time, isOld, asked, listed(replica, "stopped")), Verdict{Pod: DeletePod}},
		{"a replica that no engine maps holds nothing up", world(time, isOld, asked, listed(replica, "running")), Verdict{Pod: DeletePod}},
		{"one that an engine maps does", world(time, isOld, asked, listed(replica, "running"), mapped), Verdict{}},
		{"an engine does, in whatever state", world(time, isOld, asked, listed(engine, "stopped")), Verdict{}},
		{"unknown is not empty", world(time, isOld, unheard), Verdict{}},
		{"nor is it where everything else is known", world(time, isOld, asked, func(w *World) { w.Inventory.Known = false }), Verdict{}},
		{"nor is a list that may be of before", world(time, isOld, asked, unsettled), Verdict{}},
		{"a pod that is being deleted is waited for", world(time, isOld, deletingPod), Verdict{}},
		{"a pod that ended by itself goes at once", world(time, isOld, unheard, failedPod), Verdict{Pod: DeletePod, Failed: true}},
		{"without a pod it is removed, whatever frontends it had", world(time, isOld, noPod, recorded(frontend, "running")),
			Verdict{Remove: true}},
		{"not while its node is down", world(time, isOld, noPod, down), Verdict{}},
		{"one of the same name and another UID is not it", world(time, isOld, asked, func(w *World) { w.InstanceManager.UID = "later" }),
			Verdict{}},
		{"one of another name is not it", world(time, isOld, asked, func(w *World) { w.Upgrade.OldName = "another" }), Verdict{}},
		{"one that has the new image already is never replaced", world(time, isOld, asked, func(w *World) { w.Upgrade.Image = oldImage }),
			Verdict{}},
		{"the new one waits for the old one's pod", world(time, noPod, sibling(true)), Verdict{}},
		{"and for the old one itself", world(time, noPod, sibling(false)), Verdict{}},
		{"then it starts", world(time, noPod), Verdict{Pod: CreatePod}},
		{"whatever is known of a list", world(time, noPod, unheard), Verdict{Pod: CreatePod}},
		{"one of a third image does not come between", world(time, noPod, func(w *World) {
			w.Settings.Image = third
			w.Siblings = []Sibling{{Name: "instance-manager-0", Image: third, New: true}}
		}), Verdict{Pod: CreatePod}},
		{"nor does it start itself", world(time, noPod, func(w *World) { w.InstanceManager.Spec.Image = third }), Verdict{}},
		{"a v1 one continues as ever", world(time, noPod, func(w *World) { w.InstanceManager.Spec.DataEngine = v1beta2.DataEngineV1 }),
			Verdict{Pod: CreatePod}},
	} {
		t.Run(c.name, func(t *testing.T) { equal(t, c.want, Decide(c.world)) })
	}
	for _, state := range []string{v1beta2.UpgradeStateInitializing, v1beta2.UpgradeStateSwitchingOver,
		v1beta2.UpgradeStateDetachingReplicas,
		v1beta2.UpgradeStateRollingBack, v1beta2.UpgradeStateSwitchingBack} {
		require.Equal(t, KeepPod, Decide(world(inUpgrade(state), isOld, asked)).Pod, state)
		require.Equal(t, CreatePod, Decide(world(inUpgrade(state), isOld, noPod, ran, sibling(false))).Pod,
			"%s: an old one whose pod was lost starts again", state)
		require.Equal(t, KeepPod, Decide(world(inUpgrade(state), noPod, sibling(true))).Pod, state)
	}
}

// leads is a frontend that a list shows to lead to a target on another node, as changed.
func leads(changes ...func(*Frontend)) func(*World) {
	f := Frontend{Name: "vol-1", State: "running", Kind: "spdk-tcp-blockdev", ActivePath: "10.1.2.4:20001", Promoted: true,
		TargetNode: "node-2", Serves: true}
	for _, change := range changes {
		change(&f)
	}
	return func(w *World) { w.Frontends = []Frontend{f} }
}

func noMount(w *World) {
	if w.Pod == nil {
		w.Pod = runningPod(*w)
	}
	mounts := &w.Pod.Spec.Containers[0].VolumeMounts
	*mounts = slices.DeleteFunc(*mounts, func(m corev1.VolumeMount) bool { return m.MountPath == metadataDirectory })
}

func TestAV2PodSaysWhetherItsFrontendsOutliveIt(t *testing.T) {
	says := func(w World) string {
		return conditions.Reason(Decide(w).Status.Conditions, v1beta2.InstanceManagerFrontendRecords)
	}
	require.Equal(t, v1beta2.ReasonOnHost, says(world(v2)))
	bare := world(v2, noMount)
	require.Equal(t, v1beta2.ReasonNotOnHost, says(bare))
	c := conditions.Get(Decide(bare).Status.Conditions, v1beta2.InstanceManagerFrontendRecords)
	require.Contains(t, c.Message, "Detach the volumes that use node node-1 once")
	require.Empty(t, says(world()), "v1 has no engine frontends")
	require.Empty(t, says(world(v2, noPod)))
}

func TestAV2PodWithoutRecordsIsReplacedOnceNothingRunsOnIt(t *testing.T) {
	equal(t, Verdict{Ask: true}, Decide(world(v2, noMount)))
	equal(t, Verdict{Pod: DeletePod}, Decide(world(v2, noMount, asked)))
	equal(t, Verdict{}, Decide(world(v2, noMount, asked, listed(v1beta2.InstanceTypeEngineFrontend, "running"))))
	equal(t, Verdict{}, Decide(world(func(w *World) { w.Pod = runningPod(*w); w.Pod.Spec.Containers[0].VolumeMounts = nil }, asked)))
}

func equal(t *testing.T, want, got Verdict) {
	t.Helper()
	require.Equal(t, want.Pod, got.Pod)
	require.Equal(t, want.Failed, got.Failed)
	require.Equal(t, want.Remove, got.Remove)
	require.Equal(t, want.Ask, got.Ask)
}

func TestAnInstanceManagerSaysWhatHoldsItsReplacementUp(t *testing.T) {
	w := world(inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager), isOld, asked, listed(v1beta2.InstanceTypeEngine, "running"))
	c := conditions.Get(Decide(w).Status.Conditions, v1beta2.InstanceManagerSettingSynced)
	require.Equal(t, v1beta2.ReasonReplacing, c.Reason)
	require.Contains(t, c.Message, "engine vol-1 is on it")
}

func TestTheImageOfAnUpgradeIsMadeOnItsNode(t *testing.T) {
	w := world()
	names := func(u *Upgrade) (out []string) {
		for _, im := range Roster("node-1", w.Kubernetes, w.Node, w.Settings, u, nil) {
			out = append(out, im.Spec.DataEngine+" "+im.Spec.Image)
		}
		return out
	}
	require.Equal(t, []string{"v1 " + newImage, "v2 " + newImage}, names(nil))
	require.Equal(t, []string{"v1 " + newImage, "v2 other"}, names(&Upgrade{Image: "other"}))
}

func TestAReplacementThatAFrontendHoldsUpIsDecidedAgainAfterAPause(t *testing.T) {
	time := inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager)
	require.Equal(t, frontendPause, Decide(world(time, isOld, asked, listed(v1beta2.InstanceTypeEngineFrontend, "running"))).After)
	require.Zero(t, Decide(world(time, isOld, asked, listed(v1beta2.InstanceTypeEngine, "running"))).After, "an engine's end is an event")
	silent := world(time, isOld, func(w *World) { w.Inventory.Known = false }, listed(v1beta2.InstanceTypeEngineFrontend, "running"))
	require.Zero(t, Decide(silent).After, "a new list is an event")
	require.Zero(t, Decide(world(inUpgrade(v1beta2.UpgradeStateInitializing), isOld, asked,
		listed(v1beta2.InstanceTypeEngineFrontend, "running"))).After, "its time has not come")
}

func TestAnUpgradeLeavesTheImageOfV1AsItIs(t *testing.T) {
	v1 := func(w *World) {
		inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager)(w)
		w.InstanceManager.Spec.DataEngine, w.Upgrade.Image = v1beta2.DataEngineV1, "other"
		w.Upgrade.OldName = w.InstanceManager.Name
	}
	require.Equal(t, v1beta2.ReasonSettingsInForce,
		conditions.Reason(Decide(world(v1, asked)).Status.Conditions, v1beta2.InstanceManagerSettingSynced))
	require.Equal(t, "other", with(world(v1), v2).wantedImage())
	require.False(t, with(world(v1), func(w *World) { w.InstanceManager.Spec.Image = "other" }).successor(), "v1 has no live upgrade")
	require.True(t, with(world(v1, v2), func(w *World) { w.InstanceManager.Spec.Image = "other" }).successor())
	require.False(t, world(v2).successor(), "no upgrade brings it")
}

// An idle v1 pod of a node whose v2 data engine is being upgraded stays while a volume is on its way, as on any other node.
func TestAnUpgradeDecidesAboutV2PodsAlone(t *testing.T) {
	im := &v1beta2.InstanceManager{}
	w := World{InstanceManager: im, Upgrade: &Upgrade{State: v1beta2.UpgradeStateUpgradingInstanceManager}}
	im.Spec.DataEngine = v1beta2.DataEngineV1
	require.False(t, w.UpgradeDecides())
	im.Spec.DataEngine = v1beta2.DataEngineV2
	require.True(t, w.UpgradeDecides())
	w.Upgrade = nil
	require.False(t, w.UpgradeDecides())
}
