package instancemanager

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// The wait after failures never shrinks, starts at once, doubles, and ends at five minutes exactly.
func TestTheWaitAfterFailuresDoublesUpToItsLimit(t *testing.T) {
	want := []time.Duration{0, 0, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 5 * time.Minute,
		5 * time.Minute}
	for failures, wait := range want {
		require.Equal(t, wait, Backoff(failures), failures)
	}
	require.Zero(t, Backoff(-1))
	require.Equal(t, 5*time.Minute, Backoff(1_000_000))
}

// A volume that lost its engine keeps the instance manager up to the moment that the pause is over, by its own time stamp alone.
func TestALostEngineKeepsAnInstanceManagerUpToItsMoment(t *testing.T) {
	const pause = time.Minute
	why := func(remount, salvage string) string {
		v := &v1beta2.Volume{}
		v.Name, v.Status.State = "v", v1beta2.VolumeStateDetached
		v.Status.RemountRequestedAt, v.Status.LastAutoSalvagedAt = remount, salvage
		return Unsettled(v, nil, now, pause)
	}
	at := func(ago time.Duration) string { return now.Add(-ago).Format(time.RFC3339Nano) }
	lost := "volume v lost its engine less than 1m0s ago"
	require.Equal(t, lost, why(at(pause-time.Nanosecond), ""))
	require.Equal(t, lost, why("", at(pause-time.Nanosecond)))
	require.Empty(t, why(at(pause), at(pause)))
	require.Equal(t, lost, why(at(pause), at(0)), "the later of the two counts")
	require.Equal(t, lost, why(at(-time.Hour), ""), "a clock that is ahead: it may be lost now")
	require.Empty(t, why("yesterday", "0"), "what is not a time is none")
	require.Empty(t, why("", ""))
}

// Of several rules that speak the first one decides, and of several reasons the first one is named.
func TestWhichOfSeveralRulesDecides(t *testing.T) {
	attaching := func(w *World) { w.Unsettled = "volume vol is attaching" }
	ends := func(w *World) { w.InstanceManager.DeletionTimestamp = &metav1.Time{Time: now} }
	deletedAndFailed := func(w *World) { deletingPod(w); w.Pod.Status.Phase = corev1.PodFailed }
	for name, c := range map[string]struct {
		world World
		want  Verdict
	}{
		"somebody ends it, and its machine is gone": {world(gone, deletedNode, ends), Verdict{}},
		"its pod is deleted, and ended by itself":   {world(deletedAndFailed), Verdict{}},
		"no node is to run v2, and it is idle": {world(v2, asked, func(w *World) { w.Settings.V2 = false }),
			Verdict{Pod: DeletePod}},
		"it is idle, and new instances start on it": {world(old, newStarts, asked, attaching), Verdict{}},
		"it runs something, and a volume is on its way": {world(old, attaching, listed(v1beta2.InstanceTypeEngine, "running")),
			Verdict{}},
		"it has old settings, and a volume is on its way": {world(otherSettings, attaching), Verdict{After: unsettledPause}},
		"it is not wanted, and a volume is on its way":    {world(old, attaching), Verdict{After: unsettledPause}},
		"its list is empty, and an engine of it is remembered": {world(v2, old, asked, recorded(v1beta2.InstanceTypeEngine, "running")),
			Verdict{}},
	} {
		v := Decide(c.world)
		require.Equal(t, c.want, Verdict{Pod: v.Pod, Failed: v.Failed, Remove: v.Remove, Ask: v.Ask, After: v.After}, name)
	}
}

func TestWhichOfSeveralReasonsIsNamed(t *testing.T) {
	attaching := func(w *World) { w.Unsettled = "volume vol is attaching" }
	pod := func(w World) string { return sentence(w, v1beta2.InstanceManagerPodReady) }
	require.Equal(t, "False PodMissing: There is no pod; one is made when the node is back.", pod(world(v2, noPod, down, sibling(true))))
	require.Equal(t, "False PodDeleting: The pod is being deleted.",
		pod(world(deletingPod, func(w *World) { w.Pod.Status.Phase = corev1.PodFailed })))
	require.Equal(t, "False PodFailed: The pod ended by itself (ImagePullBackOff); it is replaced.",
		pod(world(withoutImage, func(w *World) { w.Pod.Status.Phase = corev1.PodFailed })))
	for _, ago := range []time.Duration{0, time.Hour} {
		require.Equal(t, "False PodMissing: There is no pod.", pod(world(old, noPod, func(w *World) { w.RetryAt = now.Add(-ago) })),
			"a pause that is over explains nothing")
	}
	synced := func(w World) string { return sentence(w, v1beta2.InstanceManagerSettingSynced) }
	require.Contains(t, synced(world(old, newStarts, attaching)), "new v1 instances run here until one does")
	require.Contains(t, synced(world(v2, old, noMount)), "is not wanted any more")
	upgrade := inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager)
	engine, mapped := listed(v1beta2.InstanceTypeEngine, "running"), func(w *World) { w.Mapped = []string{"engine e maps replica r on it"} }
	require.Contains(t, synced(world(upgrade, isOld, unsettled, engine)), "because it just started and may not list everything yet.")
	require.Contains(t, synced(world(upgrade, isOld, engine, mapped)), "because engine vol-1 is on it.")
	require.Contains(t, synced(world(upgrade, isOld, mapped, listed(v1beta2.InstanceTypeEngineFrontend, "running"))),
		"because engine e maps replica r on it.")
}

// What keeps a frontend from outliving its pod is named in the order in which a person can do something about it.
func TestAFrontendNamesItsReasonsOneAfterTheOther(t *testing.T) {
	w := world(inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager), isOld, noMount)
	f := Frontend{Name: "vol-ef-0", State: "suspended", Kind: frontendUblk}
	for _, step := range []struct {
		want string
		then func()
	}{
		{"is not on record on the host", func() { w.Pod = runningPod(w) }},
		{"is ublk, which does not outlive the pod", func() { f.Kind = "spdk-tcp-blockdev" }},
		{"is suspended, and only a running one outlives the pod", func() { f.State = "running" }},
		{"is on its way to another target", func() { f.ActivePath = "10.1.2.4:20001" }},
		{"is on its way to another target", func() { f.Promoted = true }},
		{"where no instance manager of a node in service is", func() { f.TargetNode = "node-1" }},
		{"leads to 10.1.2.4:20001 on the same node", func() { f.TargetNode = "node-2" }},
		{"and no new list shows an engine that runs there", func() { f.Serves = true }},
	} {
		require.Regexp(t, "^engine frontend vol-ef-0 (is|leads)", f.leaves(w))
		require.Contains(t, f.leaves(w), step.want)
		step.then()
	}
	require.Empty(t, f.leaves(w))
}

func TestAVolumeNamesTheFirstReasonWhyItIsUnsettled(t *testing.T) {
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "v", DeletionTimestamp: &metav1.Time{Time: now}}}
	v.Spec.NodeID, v.Spec.MigrationNodeID, v.Spec.TargetNodeID = "node-1", "node-2", "node-3"
	v.Status.State, v.Status.CurrentNodeID = v1beta2.VolumeStateDetaching, "node-1"
	v.Status.RemountRequestedAt = now.Format(time.RFC3339Nano)
	e := v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: "e"}, Spec: v1beta2.EngineSpec{VolumeName: "v", DesireState: "running"},
		Status: v1beta2.EngineStatus{CurrentState: "error"}}
	for _, step := range []struct {
		want string
		then func()
	}{
		{"", func() { v.DeletionTimestamp = nil }},
		{"volume v is detaching", func() { v.Status.State = v1beta2.VolumeStateDetached }},
		{"volume v is about to be attached to node node-1", func() { v.Status.State = v1beta2.VolumeStateAttached }},
		{"volume v migrates", func() { v.Spec.MigrationNodeID = "" }},
		{"the target of volume v moves to node node-3", func() { v.Status.CurrentTargetNodeID = "node-3" }},
		{"volume v lost its engine less than 1m0s ago", func() { v.Status.RemountRequestedAt = "" }},
		{"volume v lost its engine: e is error", func() { e.Status.CurrentState = "running" }},
	} {
		require.Equal(t, step.want, Unsettled(v, []v1beta2.Engine{e}, now, time.Minute))
		step.then()
	}
	require.Empty(t, Unsettled(v, []v1beta2.Engine{e}, now, time.Minute))
}

// Engines and Replicas copy these fields from the maps: one that is not compared stays as it was for ever.
func TestEachFieldOfAnInstanceIsAChangeOfItsEntry(t *testing.T) {
	for name, change := range map[string]func(*v1beta2.InstanceProcess){
		"name":                     func(p *v1beta2.InstanceProcess) { p.Spec.Name = "other" },
		"data engine":              func(p *v1beta2.InstanceProcess) { p.Spec.DataEngine = "v2" },
		"state":                    func(p *v1beta2.InstanceProcess) { p.Status.State = "error" },
		"type":                     func(p *v1beta2.InstanceProcess) { p.Status.Type = "other" },
		"UUID":                     func(p *v1beta2.InstanceProcess) { p.Status.UUID = "other" },
		"message":                  func(p *v1beta2.InstanceProcess) { p.Status.ErrorMsg = "other" },
		"endpoint":                 func(p *v1beta2.InstanceProcess) { p.Status.Endpoint = "other" },
		"first port":               func(p *v1beta2.InstanceProcess) { p.Status.PortStart = 1 },
		"last port":                func(p *v1beta2.InstanceProcess) { p.Status.PortEnd = 1 },
		"first port of the target": func(p *v1beta2.InstanceProcess) { p.Status.TargetPortStart = 1 },
		"last port of the target":  func(p *v1beta2.InstanceProcess) { p.Status.TargetPortEnd = 1 },
	} {
		for _, kind := range []string{v1beta2.InstanceTypeEngine, v1beta2.InstanceTypeEngineFrontend, v1beta2.InstanceTypeReplica} {
			w := world(v2, recorded(kind, "running"), listed(kind, "running"))
			require.True(t, Decide(w).Maps.Empty(), name)
			is := w.Inventory.Processes
			for _, m := range []map[string]v1beta2.InstanceProcess{is.Engines, is.EngineFrontends, is.Replicas} {
				for key, p := range m {
					change(&p)
					m[key] = p
				}
			}
			changed := Decide(w).Maps
			require.Equal(t, 1, len(changed.Engines)+len(changed.EngineFrontends)+len(changed.Replicas), "%s of a %s", name, kind)
		}
	}
}

func TestAnEntryIsWrittenAlsoWhereAListHasOnlyItsName(t *testing.T) {
	w := world()
	w.Inventory.Processes.Engines = map[string]v1beta2.InstanceProcess{"bare": {}}
	require.Equal(t, map[string]*v1beta2.InstanceProcess{"bare": {}}, Decide(w).Maps.Engines)
}

func TestFrontendsOfAV1PodThatIsGoneLeaveTheMapsToo(t *testing.T) {
	frontend := v1beta2.InstanceTypeEngineFrontend
	require.Len(t, Decide(world(unheard, noPod, recorded(frontend, "running"))).Maps.EngineFrontends, 1)
	require.Len(t, Decide(world(v2, recorded(frontend, "running"))).Maps.EngineFrontends, 1, "a settled list lacks it")
	v := Decide(world(v2, unsettled, recorded(frontend, "running")))
	require.Empty(t, v.Maps.EngineFrontends)
	require.Equal(t, []string{"vol-1"}, v.Held)
}

func TestANewInstanceManagerHasTheLabelsByWhichItIsFound(t *testing.T) {
	w := world()
	for _, im := range Roster("node-1", w.Kubernetes, w.Node, w.Settings, nil, nil) {
		require.Equal(t, map[string]string{"longhorn.io/component": "instance-manager", "longhorn.io/managed-by": "longhorn-manager",
			"longhorn.io/node": "node-1", "longhorn.io/data-engine": im.Spec.DataEngine, "longhorn.io/instance-manager-type": "aio",
			"longhorn.io/instance-manager-image": "imi-cb0c23ee"}, im.Labels)
	}
}

func TestEachVersionThatWasReadIsKept(t *testing.T) {
	w := world(unheard)
	s := &w.InstanceManager.Status
	s.APIVersion, s.APIMinVersion, s.ProxyAPIVersion, s.ProxyAPIMinVersion = 1, 2, 3, 4
	require.Equal(t, Version{API: 1, APIMin: 2, Proxy: 3, ProxyMin: 4}, Decide(w).Status.Version)
}

func TestABlockedPodNamesTheCommandsThatEndTheWait(t *testing.T) {
	w := world(v2, noPod, sibling(true))
	w.Siblings[0].Runs = []string{"engine vol-e-0"}
	require.Equal(t, " instance-manager-0 stays while engine vol-e-0 is on it: upgrade the node live, or detach the volumes "+
		"(kubectl -n longhorn-system get lhe,lhef -o wide). What no volume uses any more ends with its pod: "+
		"kubectl -n longhorn-system delete pod instance-manager-0.", blockers(w))
}
