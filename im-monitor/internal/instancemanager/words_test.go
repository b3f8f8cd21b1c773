package instancemanager

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// waits is a pod whose container waits for a reason.
func waits(reason string) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
		{}, {Image: "im:1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "try 7"}}}}}}
}

// What changes from try to try is left out: each condition would be written again.
func TestWhatTheKubeletReportsAboutAPod(t *testing.T) {
	require.Empty(t, because(&corev1.Pod{}))
	require.Equal(t, " (Evicted)", because(&corev1.Pod{Status: corev1.PodStatus{Reason: "Evicted"}}))
	require.Equal(t, " (ErrImagePull)", because(waits("ErrImagePull")))
	require.Empty(t, because(waits("")), "the kubelet gives no reason")
	ended := waits("")
	ended.Status.ContainerStatuses[1].State = corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137}}
	require.Equal(t, " (OOMKilled, exit code 137)", because(ended))
}

func TestWhyAPodCannotStart(t *testing.T) {
	require.Equal(t, "image im:1 cannot be pulled", cannotStart(waits("ImagePullBackOff")))
	for _, reason := range []string{"ErrImagePull", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError", "RegistryUnavailable",
		"SignatureValidationFailed"} {
		require.Equal(t, "image im:1 cannot be pulled", cannotStart(waits(reason)), reason)
	}
	for _, reason := range []string{"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "PreCreateHookError",
		"PreStartHookError", "PostStartHookError"} {
		require.Equal(t, reason, cannotStart(waits(reason)))
	}
	require.Empty(t, cannotStart(waits("ContainerCreating")), "it is being started")
	require.Empty(t, cannotStart(&corev1.Pod{}))
}

func TestSentencesNameTheFirstFewInstances(t *testing.T) {
	processes := func(names ...string) map[string]v1beta2.InstanceProcess {
		out := map[string]v1beta2.InstanceProcess{}
		for _, name := range names {
			out[name] = v1beta2.InstanceProcess{}
		}
		return out
	}
	what := Running(v1beta2.InstanceManagerStatus{InstanceEngines: processes("b", "a"), InstanceEngineFrontends: processes("f")})
	require.Equal(t, []string{"engine frontend f", "engine a", "engine b"}, what)
	require.Equal(t, "engine frontend f is", naming(what[:1]))
	require.Equal(t, "engine frontend f, engine a, engine b are", naming(what))
	require.Equal(t, "engine frontend f, engine a, engine b and 1 more are", naming(append(what, "engine c")))
}

func TestWhichUpgradesAreUnderWay(t *testing.T) {
	for _, state := range []string{v1beta2.UpgradeStateInitializing, v1beta2.UpgradeStateSwitchingOver, v1beta2.UpgradeStateDetachingReplicas,
		v1beta2.UpgradeStateUpgradingInstanceManager, v1beta2.UpgradeStateSwitchingBack, v1beta2.UpgradeStateRebuildingReplica,
		v1beta2.UpgradeStateRollingBack} {
		require.True(t, ActiveUpgrade(state), state)
	}
	for _, state := range []string{"", v1beta2.UpgradeStateUndefined, v1beta2.UpgradeStateCompleted, v1beta2.UpgradeStateError} {
		require.False(t, ActiveUpgrade(state), state)
	}
}

func TestOnlyReplicasThatServeAreAskedAbout(t *testing.T) {
	replicas := map[string]v1beta2.InstanceProcess{"stopped": {}, "runs": {}, "odd": {}}
	for name, state := range map[string]string{"stopped": v1beta2.InstanceStateStopped, "runs": v1beta2.InstanceStateRunning,
		"odd": v1beta2.InstanceStateError} {
		replicas[name] = v1beta2.InstanceProcess{Status: v1beta2.InstanceProcessStatus{State: state}}
	}
	require.Equal(t, []string{"odd", "runs"}, Processes{Replicas: replicas}.Serving())
}

// sentence is one condition as people read it; empty where there is none.
func sentence(w World, kind string) string {
	c := conditions.Get(Decide(w).Status.Conditions, kind)
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

func sentences(t *testing.T, kind string, cases map[string]World) {
	t.Helper()
	for want, w := range cases {
		t.Run(want, func(t *testing.T) { require.Equal(t, want, sentence(w, kind)) })
	}
}

func TestNodeReadyRepeatsWhatKubernetesReports(t *testing.T) {
	sentences(t, v1beta2.InstanceManagerNodeReady, map[string]World{
		"True NodeReady: The Kubernetes node node-1 is ready.":        world(),
		"False KubernetesNodeGone: No Kubernetes node node-1 exists.": world(gone),
		"False KubernetesNodeNotReady: The Kubernetes node node-1 is not ready (KubeletStopped: silence); what runs there is unknown.": world(
			down, func(w *World) { w.Kubernetes.NotReadyMessage = "KubeletStopped: silence" }),
	})
}

func TestPodReadyNamesWhatThePodWaitsFor(t *testing.T) {
	failing := func(w *World) { w.RetryAt = now.Add(time.Minute) }
	sentences(t, v1beta2.InstanceManagerPodReady, map[string]World{
		"True PodReady: The pod is ready at 10.1.2.3.":                          world(),
		"False PodMissing: There is no pod; one is made when the node is back.": world(noPod, down),
		"False PodMissing: There is no pod.":                                    world(old, noPod),
		"False PodStarting: The pod was made and is not ready yet.":             world(noPod),
		"False PodStarting: The pod is not ready yet.":                          world(pendingPod),
		"False PodDeleting: The pod is being deleted.":                          world(deletingPod),
		"False PodFailed: The pod ended by itself (Evicted); it is replaced.":   world(evictedPod),
		"False PodStarting: The pod is not ready yet (ContainerCreating).":      world(pulling("ContainerCreating")),
		"False PodCannotStart: The pod instance-manager-4a6b19dd2530598d67a1761c8d33e27c cannot start: image missing:v1 cannot be pulled.": world(
			withoutImage),
		"False PodBlocked: Waiting for the node's other v2 instance managers to end: a node runs one at a time.": world(v2, noPod,
			sibling(true)),
		"False PodFailed: The pod ended by itself several times in a row; another one is made after a pause. Look at its logs and events.": world(
			noPod, failing),
	})
}

func evictedPod(w *World) {
	failedPod(w)
	w.Pod.Status.Reason = "Evicted"
}

// pulling is a pod whose container waits for a reason.
func pulling(reason string) func(*World) {
	return func(w *World) {
		withoutImage(w)
		w.Pod.Status.ContainerStatuses[0].State.Waiting.Reason = reason
	}
}

func TestABlockedPodNamesTheFirstSiblingThatRunsSomething(t *testing.T) {
	w := world(v2, noPod, sibling(true))
	w.Siblings = append(w.Siblings, Sibling{Name: "instance-manager-1", HasPod: true, Runs: []string{"engine vol-e-0"}})
	require.Contains(t, sentence(w, v1beta2.InstanceManagerPodReady), "one at a time. instance-manager-1 stays while engine vol-e-0 is on it:")
}

func TestABlockedPodNamesThePodThatADeletedInstanceManagerLeft(t *testing.T) {
	w := world(v2, noPod)
	w.Siblings = []Sibling{{Name: "instance-manager-1", HasPod: true, PodOnly: true}}
	require.Equal(t, KeepPod, Decide(w).Pod)
	why := sentence(w, v1beta2.InstanceManagerPodReady)
	require.Contains(t, why, "False PodBlocked: ")
	require.Contains(t, why, "InstanceManager instance-manager-1 was deleted, and its pod has not ended.")
}

func TestSettingSyncedNamesWhyTheInstanceManagerIsToBeReplaced(t *testing.T) {
	const (
		inForce = "True SettingsInForce: The image and the settings now in force are used."
		retired = "False Replacing: This instance manager is not wanted any more (another image, data engine disabled, or node removed); " +
			"it goes once nothing runs on it."
		standIn = "False Replacing: Image " + newImage + " is wanted, but no instance manager of the node runs it: new v1 instances run " +
			"here until one does."
		changed  = "False SettingsChanged: Settings changed after the pod was made; it is replaced once nothing runs on it."
		noRecord = "False SettingsChanged: The pod lacks the mount at /metadata; it is replaced once nothing runs on it."
		replaced = "False Replacing: A live upgrade replaces this instance manager."
		stays    = "False Replacing: A live upgrade replaces this instance manager; its pod stays, because "
		waits    = "False VolumeUnsettled: Nothing runs on it and it shall be replaced, but it stays while volume vol is attaching: the " +
			"volume has a replica on the node."
	)
	time := inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager)
	attaching := func(w *World) { w.Unsettled = "volume vol is attaching" }
	for name, c := range map[string]struct {
		world World
		want  string
	}{
		"wanted":                                 {world(), inForce},
		"wanted, without a pod":                  {world(noPod), inForce},
		"wanted, and a volume is on its way":     {world(attaching), inForce},
		"not evaluated on a node that is down":   {world(old, down), inForce},
		"without a Node, on a node that is down": {world(down, noNode, otherSettings), inForce},
		"old":                                    {world(old), retired},
		"old v2":                                 {world(v2, old), retired},
		"old, without a pod":                     {world(old, newStarts, noPod), retired},
		"old, that of the new image starts":      {world(old, newStarts), standIn},
		"old, and a volume is on its way":        {world(old, attaching), waits},
		"other settings":                         {world(otherSettings), changed},
		"other settings, a volume on its way":    {world(otherSettings, attaching), waits},
		"no records on the host":                 {world(v2, noMount), noRecord},
		"in an upgrade, and empty":               {world(time, isOld), replaced},
		"in an upgrade, without a pod":           {world(time, isOld, noPod, unheard), replaced},
		"in an upgrade, and silent":              {world(time, isOld, unheard), stays + "what runs on it is unknown."},
		"in an upgrade, and just started":        {world(time, isOld, unsettled), stays + "it just started and may not list everything yet."},
		"in an upgrade, with a frontend": {world(time, isOld, listed(v1beta2.InstanceTypeEngineFrontend, "running")),
			stays + "where engine frontend vol-1 leads is unknown."},
		"in an upgrade, with mapped replicas": {world(time, isOld, func(w *World) { w.Mapped = []string{"a", "b", "c", "d"} }),
			stays + "a; b; c."},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, sentence(c.world, v1beta2.InstanceManagerSettingSynced)) })
	}
}

func TestFrontendRecordsAreReportedOnTheHost(t *testing.T) {
	require.Equal(t, "True OnHost: The records of engine frontends are on the host: frontends outlive the pod.",
		sentence(world(v2), v1beta2.InstanceManagerFrontendRecords))
	require.Equal(t, v1beta2.ConditionFalse, frontendRecords(world(v2, noMount)).Status)
}

func TestReachableNamesHowLongAServerIsSilent(t *testing.T) {
	silent := func(since time.Duration) func(*World) {
		return func(w *World) { w.Inventory = Inventory{UnknownSince: now.Add(-since)} }
	}
	const end = "; what runs there is unknown, nothing is concluded from it."
	for name, c := range map[string]struct {
		world World
		want  string
	}{
		"answers":                {world(), "True Answering: Whole lists of instances are read."},
		"silent for a moment":    {world(silent(15*time.Second - 1)), ""},
		"silent for long enough": {world(silent(15 * time.Second)), "False NotAnswering: No whole list of instances could be read for 15s" + end},
		"since when is unknown":  {world(func(w *World) { w.Inventory = Inventory{} }), ""},
		"silent as behind a NetworkPolicy": {world(silent(time.Minute), func(w *World) { w.Inventory.Problem = "dial tcp: i/o timeout" }),
			"False NotAnswering: No whole list of instances could be read for 15s (dial tcp: i/o timeout)" + end +
				" If no instance manager of another node answers either, a NetworkPolicy may keep im-monitor out: kubectl drover doctor."},
		"v1 waits for no disk": {world(silent(time.Minute), loadingDisk),
			"False NotAnswering: No whole list of instances could be read for 15s" + end},
		"v2 waits for a disk, but not for ever": {world(v2, silent(5*time.Minute), loadingDisk),
			"False NotAnswering: No whole list of instances could be read for 5m0s" + end},
		"v2 without a disk that is loaded": {world(v2, silent(time.Minute)),
			"False NotAnswering: No whole list of instances could be read for 15s" + end},
		"v2 without a Node": {world(v2, silent(time.Minute), noNode),
			"False NotAnswering: No whole list of instances could be read for 15s" + end},
		"a longer patience is kept": {world(v2, silent(time.Hour), loadingDisk, func(w *World) { w.Options.UnreachableAfter = 10 * time.Minute }),
			"False NotAnswering: No whole list of instances could be read for 10m0s" + end},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, sentence(c.world, v1beta2.InstanceManagerReachable)) })
	}
}

func TestAnUpgradeNamesWhyAFrontendWouldNotOutliveThePod(t *testing.T) {
	why := func(changes ...func(*World)) string {
		time := inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager)
		return world(append([]func(*World){time, isOld, listed(v1beta2.InstanceTypeEngineFrontend, "running")}, changes...)...).leaving()
	}
	require.Equal(t, "engine frontend vol-1 is not on record on the host (the pod lacks the mount at /metadata); detach its volume",
		why(leads(), noMount))
	require.Equal(t, "where engine frontend vol-1 leads is unknown", why())
	for want, change := range map[string]func(*Frontend){
		"": func(*Frontend) {},
		"engine frontend vol-1 is ublk, which does not outlive the pod; detach its volume": func(f *Frontend) { f.Kind = "ublk" },
		"engine frontend vol-1 is error, and only a running one outlives the pod":          func(f *Frontend) { f.State = "error" },
		"engine frontend vol-1 is on its way to another target":                            func(f *Frontend) { f.ActivePath = "" },
		"engine frontend vol-1 leads to 10.1.2.4:20001, where no instance manager of a node in service is": func(f *Frontend) {
			f.TargetNode = ""
		},
		"engine frontend vol-1 leads to 10.1.2.4:20001 on the same node": func(f *Frontend) { f.TargetNode = "node-1" },
		"engine frontend vol-1 leads to 10.1.2.4:20001 on node node-2, and no new list shows an engine that runs there": func(f *Frontend) {
			f.Serves = false
		},
	} {
		require.Equal(t, want, why(leads(change)))
	}
}

func TestASentenceNamesThreeFrontendsAtMost(t *testing.T) {
	w := world(inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager), isOld)
	w.Inventory.Processes.EngineFrontends = map[string]v1beta2.InstanceProcess{"d": {}, "c": {}, "b": {}, "a": {}}
	require.Equal(t, "where engine frontend a leads is unknown; where engine frontend b leads is unknown; "+
		"where engine frontend c leads is unknown", w.leaving())
	ublk := func(name string) Frontend { return Frontend{Name: name, Kind: frontendUblk} }
	lost := " is ublk, which does not outlive the pod; detach its volume"
	w.Frontends = []Frontend{ublk("d"), ublk("b")}
	require.Equal(t, "engine frontend d"+lost+"; engine frontend b"+lost+"; where engine frontend a leads is unknown", w.leaving())
	leads()(&w)
	w.Frontends[0].Name = "a"
	w.Frontends = append(w.Frontends, ublk("b"), ublk("c"))
	w.Inventory.Processes.EngineFrontends = nil
	require.Equal(t, "engine frontend b"+lost+"; engine frontend c"+lost, w.leaving(), "one that outlives the pod is not named")
	w.Frontends = []Frontend{ublk("d"), ublk("c"), ublk("b"), ublk("a")}
	require.Equal(t, "engine frontend d"+lost+"; engine frontend c"+lost+"; engine frontend b"+lost, w.leaving())
}
