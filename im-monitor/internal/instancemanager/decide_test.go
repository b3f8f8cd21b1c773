package instancemanager

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const (
	newImage = "longhornio/longhorn-instance-manager:v1.12.1"
	oldImage = "longhornio/longhorn-instance-manager:v1.12.0"
)

// world is a v1 instance manager of the default image whose pod runs and which answers with an empty list.
func world(changes ...func(*World)) World {
	settings := setting.Defaults()
	settings.Image, settings.V2 = newImage, true
	w := World{
		Now: now, Options: DefaultOptions(), Settings: settings,
		InstanceManager: manager(newImage, v1beta2.DataEngineV1),
		Kubernetes:      &node.Kubernetes{Ready: true, AllocatableMilliCPU: 4000},
		Node:            &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", UID: "node-uid"}},
		Inventory:       Inventory{Known: true, Settled: true, Version: Version{7, 1, 7, 1}},
	}
	for _, change := range changes {
		change(&w)
	}
	if w.Pod == nil {
		w.Pod = runningPod(w)
	}
	if w.Pod.Name == "" {
		w.Pod = nil
	}
	return w
}

func manager(image, engine string) *v1beta2.InstanceManager {
	return &v1beta2.InstanceManager{
		ObjectMeta: metav1.ObjectMeta{Name: v1beta2.InstanceManagerName("node-1", image, engine), Namespace: "longhorn-system",
			UID: "im-uid"},
		Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1", Image: image, DataEngine: engine, Type: v1beta2.InstanceManagerTypeAIO},
	}
}

func runningPod(w World) *corev1.Pod {
	p := PodFor(w)
	p.UID = "pod-uid"
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.1.2.3",
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	return p
}

func noPod(w *World) { w.Pod = &corev1.Pod{} }
func v2(w *World)    { w.InstanceManager.Spec.DataEngine = v1beta2.DataEngineV2 }
func old(w *World) {
	w.InstanceManager.Spec.Image = oldImage
	if w.InstanceManager.Spec.DataEngine == v1beta2.DataEngineV1 {
		w.Siblings = []Sibling{{Name: "instance-manager-new", Image: newImage, HasPod: true, Running: true}}
	}
}
func newStarts(w *World) { w.Siblings[0].Running = false }
func withoutImage(w *World) {
	w.Pod = runningPod(*w)
	w.Pod.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Image: "missing:v1",
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}}}
}
func down(w *World)    { w.Kubernetes.Ready = false }
func gone(w *World)    { w.Kubernetes = nil }
func asked(w *World)   { w.Inventory.Asked = true }
func unheard(w *World) { w.Inventory = Inventory{UnknownSince: now.Add(-time.Hour)} }
func unsettled(w *World) {
	w.Inventory.Settled = false
}
func deletedNode(w *World) { w.Node.DeletionTimestamp = &metav1.Time{Time: now} }
func failedPod(w *World) {
	w.Pod = runningPod(*w)
	w.Pod.Status.Phase = corev1.PodFailed
}
func pendingPod(w *World) {
	w.Pod = runningPod(*w)
	w.Pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
}
func deletingPod(w *World) {
	w.Pod = runningPod(*w)
	w.Pod.DeletionTimestamp = &metav1.Time{Time: now}
}
func sibling(hasPod bool) func(*World) {
	return func(w *World) {
		image := oldImage
		if w.InstanceManager.Spec.Image == oldImage {
			image = newImage
		}
		w.Siblings = []Sibling{{Name: "instance-manager-0", Image: image, HasPod: hasPod}}
	}
}
func listed(kind, state string) func(*World) {
	return func(w *World) { put(&w.Inventory.Processes, kind, state) }
}
func recorded(kind, state string) func(*World) {
	return func(w *World) {
		var p Processes
		put(&p, kind, state)
		s := &w.InstanceManager.Status
		s.InstanceEngines, s.InstanceEngineFrontends, s.InstanceReplicas = p.Engines, p.EngineFrontends, p.Replicas
	}
}

func noNode(w *World)     { w.Node = nil }
func requested(w *World)  { w.Node.Spec.UpgradeRequested = true }
func newSibling(w *World) { w.Siblings[0].New = true }

// started is a pending pod of which the kubelet reports one container.
func started(c corev1.ContainerStatus) func(*World) {
	return func(w *World) {
		pendingPod(w)
		w.Pod.Status.ContainerStatuses = []corev1.ContainerStatus{c}
	}
}

func provenGone(w *World) { w.Inventory.Gone = map[string]bool{"vol-1": true} }

func put(p *Processes, kind, state string) {
	one := map[string]v1beta2.InstanceProcess{"vol-1": {Spec: v1beta2.InstanceProcessSpec{Name: "vol-1"},
		Status: v1beta2.InstanceProcessStatus{State: state}}}
	switch kind {
	case v1beta2.InstanceTypeEngine:
		p.Engines = one
	case v1beta2.InstanceTypeEngineFrontend:
		p.EngineFrontends = one
	default:
		p.Replicas = one
	}
}

func TestPodAndEnd(t *testing.T) {
	engine, replica, frontend := v1beta2.InstanceTypeEngine, v1beta2.InstanceTypeReplica, v1beta2.InstanceTypeEngineFrontend
	cases := []struct {
		name  string
		world World
		want  Verdict // of which Pod, Failed, Remove, Ask and After are compared
	}{
		{"a pod that runs is left alone", world(), Verdict{}},
		{"a missing pod is made", world(noPod), Verdict{Pod: CreatePod}},
		{"a pod is not made while earlier ones keep failing", world(noPod, func(w *World) { w.RetryAt = now.Add(time.Minute) }),
			Verdict{After: time.Minute}},
		{"a pod that ended is deleted and counted", world(failedPod), Verdict{Pod: DeletePod, Failed: true}},
		{"a pod that is being deleted is waited for", world(deletingPod), Verdict{}},
		{"a node that is down gets no pod", world(noPod, down), Verdict{}},
		{"a failed pod of a node that is down stays", world(failedPod, down), Verdict{}},
		{"a Kubernetes node that is gone may come back while its Node is kept", world(gone), Verdict{}},
		{"a node that is gone and deleted loses its pod without a kubelet", world(gone, deletedNode), Verdict{Pod: ForceDeletePod}},
		{"and then its instance manager", world(gone, deletedNode, noPod), Verdict{Remove: true}},
		{"with no default image what is there stays", world(func(w *World) { w.Settings.Image = "" }), Verdict{}},
		{"an old one that may be empty is asked first", world(old), Verdict{Ask: true}},
		{"an old one that reported it is empty loses its pod", world(old, asked), Verdict{Pod: DeletePod}},
		{"an old one with a replica in any state stays", world(old, asked, listed(replica, "stopped")), Verdict{}},
		{"an old one that does not answer stays: unknown is not empty", world(old, unheard), Verdict{After: 15 * time.Second}},
		{"an old v1 one without a pod goes: its processes went with the pod", world(old, noPod, recorded(replica, "running")),
			Verdict{Remove: true}},
		{"an old v1 one stays while that of the new image does not run: new instances run there", world(old, newStarts, asked), Verdict{}},
		{"also while there is none of the new image yet", world(old, asked, func(w *World) { w.Siblings = nil }), Verdict{}},
		{"but not on a node that goes", world(old, newStarts, asked, deletedNode), Verdict{Pod: DeletePod}},
		{"one that is superseded before it ran goes without a list", world(old, newStarts, withoutImage, unheard), Verdict{Pod: DeletePod}},
		{"so does a v2 one", world(v2, old, withoutImage, unheard), Verdict{Pod: DeletePod}},
		{"but not one that is needed for what it left behind", world(v2, old, withoutImage, unheard, recorded(frontend, "running")),
			Verdict{}},
		{"one whose settings changed before it ran is created again",
			world(withoutImage, unheard, func(w *World) { w.Settings.PriorityClass = "high" }), Verdict{Pod: DeletePod}},
		{"one that never ran is created again with the secret that was named since",
			world(withoutImage, unheard, func(w *World) { w.Settings.RegistrySecret = "pull" }), Verdict{Pod: DeletePod}},
		{"but not again for it", world(withoutImage, unheard, func(w *World) {
			w.Settings.RegistrySecret, w.Pod.Spec.ImagePullSecrets = "pull", []corev1.LocalObjectReference{{Name: "pull"}}
		}), Verdict{}},
		{"nor where the secret of the service account is all there is", world(withoutImage, unheard, func(w *World) {
			w.Pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "of-the-account"}}
		}), Verdict{}},
		{"one that is wanted is left to the kubelet", world(withoutImage, unheard), Verdict{}},
		{"an engine that was disabled ends its empty instance managers", world(asked, func(w *World) { w.Settings.V1 = false }),
			Verdict{Pod: DeletePod}},
		{"an instance manager of a deleted node goes when empty", world(asked, deletedNode), Verdict{Pod: DeletePod}},
		{"an instance manager of a deleted node stays with an engine", world(asked, deletedNode, listed(engine, "running")), Verdict{}},
		{"an old v2 one with only data at rest is replaced", world(v2, old, asked, listed(replica, "stopped")), Verdict{Pod: DeletePod}},
		{"an old v2 one that runs a replica stays", world(v2, old, asked, listed(replica, "running")), Verdict{}},
		{"an old v2 one with a state that we do not know stays", world(v2, old, asked, listed(replica, "hibernating")), Verdict{}},
		{"an old v2 one with a frontend stays", world(v2, old, asked, listed(frontend, "stopped")), Verdict{}},
		{"an old v2 one that has just restarted is not believed to be empty", world(v2, old, asked, unsettled), Verdict{}},
		{"an old v2 one of which more is remembered stays: without its pod it would be made again",
			world(v2, old, asked, recorded(replica, "running")), Verdict{}},
		{"an old v2 one whose pod ended with a frontend starts again with its image", world(v2, old, noPod, recorded(frontend, "running")),
			Verdict{Pod: CreatePod}},
		{"an old v2 one whose pod ended with only data at rest goes", world(v2, old, noPod, recorded(replica, "stopped")),
			Verdict{Remove: true}},
		{"while an upgrade has the node its v2 ones are not replaced",
			world(v2, old, asked, func(w *World) { w.Node.Spec.UpgradeRequested = true }), Verdict{}},
		{"a new v2 one waits for the pod of the old one", world(v2, noPod, sibling(true)), Verdict{}},
		{"a new v2 one waits for an old one that will start first", world(v2, noPod, sibling(false)), Verdict{}},
		{"an old v2 one that has to start goes before the new one", world(v2, old, noPod, recorded(frontend, "running"), sibling(false)),
			Verdict{Pod: CreatePod}},
		{"an old v2 one whose pod ended with an engine goes: the engine ended with it", world(v2, old, noPod, recorded(engine, "running")),
			Verdict{Remove: true}},
		{"v1 pods of two images live side by side", world(noPod, sibling(true)), Verdict{Pod: CreatePod}},
		{"a pod with settings of the past is asked first",
			world(func(w *World) { w.Pod = runningPod(*w); w.Settings.PriorityClass = "high" }), Verdict{Ask: true}},
		{"and created again when empty", world(asked, func(w *World) { w.Pod = runningPod(*w); w.Settings.PriorityClass = "high" }),
			Verdict{Pod: DeletePod}},
		{"but not while something runs", world(asked, listed(engine, "running"),
			func(w *World) { w.Pod = runningPod(*w); w.Settings.PriorityClass = "high" }), Verdict{}},
		{"a pod that does not report its settings keeps them", world(func(w *World) {
			w.Pod = runningPod(*w)
			w.Pod.Annotations = nil
			w.Settings.PriorityClass = "high"
		}), Verdict{}},
		{"one whose Node is missing goes when empty", world(asked, noNode), Verdict{Pod: DeletePod}},
		{"so does a v2 one", world(v2, asked, noNode), Verdict{Pod: DeletePod}},
		{"one whose Node and machine are missing loses its pod without a kubelet", world(gone, noNode), Verdict{Pod: ForceDeletePod}},
		{"with no default image an idle v2 one stays, too", world(v2, asked, func(w *World) { w.Settings.Image = "" }), Verdict{}},
		{"a pod that ended well is replaced like one that failed", world(func(w *World) {
			failedPod(w)
			w.Pod.Status.Phase = corev1.PodSucceeded
		}), Verdict{Pod: DeletePod, Failed: true}},
		{"a pending pod with a container that runs may have instances", world(unheard, old, newStarts, started(corev1.ContainerStatus{
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})), Verdict{}},
		{"so may one with a container that ran", world(unheard, old, newStarts, started(corev1.ContainerStatus{
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}})), Verdict{}},
		{"or that ran before it was started again", world(unheard, old, newStarts, started(corev1.ContainerStatus{
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}})), Verdict{}},
		{"a v1 one that never ran needs no list, whatever is remembered", world(old, withoutImage, unheard, recorded(replica, "running")),
			Verdict{Pod: DeletePod}},
		{"an old v1 one goes where none of the new image could take over", world(old, asked, newStarts, func(w *World) {
			w.Pod = runningPod(*w)
			w.Pod.Status.Conditions = nil
		}), Verdict{Pod: DeletePod}},
		{"one of another image takes nothing over", world(old, asked, func(w *World) {
			w.Siblings[0].Image = "longhornio/longhorn-instance-manager:v1.8.0"
		}), Verdict{}},
		{"a back-off that is over keeps no pod", world(noPod, func(w *World) { w.RetryAt = now }), Verdict{Pod: CreatePod}},
		{"an upgrade that is under way has the node, too", world(v2, old, asked, func(w *World) {
			w.Upgrade = &Upgrade{State: v1beta2.UpgradeStateInitializing, Image: newImage}
		}), Verdict{}},
		{"where it has, an old one that never ran holds no new one up", world(v2, noPod, sibling(false), newSibling, func(w *World) {
			w.Upgrade = &Upgrade{State: v1beta2.UpgradeStateInitializing, Image: newImage}
		}), Verdict{Pod: CreatePod}},
		{"an old v2 one without a pod goes without a list", world(v2, old, noPod, unheard), Verdict{Remove: true}},
		{"an old v1 one has no list that is not settled", world(old, asked, unsettled), Verdict{Pod: DeletePod}},
		{"of an old v1 one the list counts, not what is remembered", world(old, asked, recorded(replica, "running")),
			Verdict{Pod: DeletePod}},
		{"an old one that runs something is not asked", world(old, listed(engine, "running")), Verdict{}},
		{"an upgrade that is only requested starts the wanted one", world(v2, noPod, requested), Verdict{Pod: CreatePod}},
		{"and no old one that never ran", world(v2, old, noPod, requested), Verdict{}},
		{"but one that ran", world(v2, old, noPod, requested, ran), Verdict{Pod: CreatePod}},
		{"an old one that never ran holds no wanted one up then", world(v2, noPod, requested, sibling(false), newSibling),
			Verdict{Pod: CreatePod}},
		{"an old one that ran does", world(v2, noPod, requested, sibling(false)), Verdict{}},
		{"without an upgrade one that never ran starts first", world(v2, noPod, sibling(false), newSibling), Verdict{}},
		{"an instance manager that somebody deletes is left alone",
			world(noPod, func(w *World) { w.InstanceManager.DeletionTimestamp = &metav1.Time{Time: now} }), Verdict{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.want, Verdict{Pod: v.Pod, Failed: v.Failed, Remove: v.Remove, Ask: v.Ask, After: v.After})
		})
	}
}

func TestState(t *testing.T) {
	was := func(state string) func(*World) {
		return func(w *World) { w.InstanceManager.Status.CurrentState = state }
	}
	cases := []struct {
		name        string
		world       World
		state, ip   string
		pod, answer string // reasons of PodReady and Reachable
	}{
		{"ready and answering", world(), "running", "10.1.2.3", v1beta2.ReasonPodReady, v1beta2.ReasonAnswering},
		{"ready and silent for long stays running, and reports it", world(unheard), "running", "10.1.2.3", v1beta2.ReasonPodReady,
			v1beta2.ReasonNotAnswering},
		{"ready and silent for a moment reports nothing", world(func(w *World) { w.Inventory = Inventory{UnknownSince: now} }), "running",
			"10.1.2.3", v1beta2.ReasonPodReady, ""},
		{"silent while a disk is being loaded is busy",
			world(v2, func(w *World) { w.Inventory = Inventory{UnknownSince: now.Add(-time.Minute)} }, loadingDisk), "running", "10.1.2.3",
			v1beta2.ReasonPodReady, ""},
		{"pod about to be made", world(noPod), "starting", "", v1beta2.ReasonPodStarting, ""},
		{"pod pending", world(pendingPod), "starting", "", v1beta2.ReasonPodStarting, ""},
		{"pod whose image cannot be pulled", world(withoutImage), "starting", "", v1beta2.ReasonPodCannotStart, ""},
		{"pod failed", world(failedPod), "error", "", v1beta2.ReasonPodFailed, ""},
		{"pod being deleted", world(deletingPod), "error", "", v1beta2.ReasonPodDeleting, ""},
		{"new and blocked", world(v2, noPod, sibling(true)), "stopped", "", v1beta2.ReasonPodBlocked, ""},
		{"in back-off after running", world(noPod, was("running"), func(w *World) { w.RetryAt = now.Add(time.Second) }), "error", "",
			v1beta2.ReasonPodFailed, ""},
		{"blocked after running", world(v2, noPod, sibling(true), ran), "stopped", "", v1beta2.ReasonPodBlocked, ""},
		{"in back-off before it ever ran", world(noPod, func(w *World) { w.RetryAt = now.Add(time.Second) }), "stopped", "",
			v1beta2.ReasonPodFailed, ""},
		{"stopped, and still in back-off", world(noPod, was("stopped"), func(w *World) { w.RetryAt = now.Add(time.Second) }), "stopped", "",
			v1beta2.ReasonPodFailed, ""},
		{"ready beside another pod", world(v2, sibling(true)), "running", "10.1.2.3", v1beta2.ReasonPodReady, v1beta2.ReasonAnswering},
		{"ready before the back-off is over", world(func(w *World) { w.RetryAt = now.Add(time.Second) }), "running", "10.1.2.3",
			v1beta2.ReasonPodReady, v1beta2.ReasonAnswering},
		{"node down", world(down), "unknown", "", v1beta2.ReasonPodReady, v1beta2.ReasonAnswering},
		{"node gone without pod", world(gone, noPod, was("running")), "unknown", "", v1beta2.ReasonPodMissing, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Decide(c.world).Status
			require.Equal(t, c.state, got.State)
			require.Equal(t, c.ip, got.IP)
			require.Equal(t, c.pod, conditions.Reason(got.Conditions, v1beta2.InstanceManagerPodReady))
			require.Equal(t, c.answer, conditions.Reason(got.Conditions, v1beta2.InstanceManagerReachable))
		})
	}
}

// loadingDisk is a node whose v2 server executes no call until its disk is done.
func loadingDisk(w *World) {
	n := w.Node.DeepCopy()
	n.Status.DiskStatus = map[string]v1beta2.DiskStatus{"fast": {Load: &v1beta2.DiskLoad{State: v1beta2.DiskLoadCreating}}}
	w.Node = n
}

func TestDecidingAgainOnTheResultChangesNothing(t *testing.T) {
	for _, w := range []World{world(), world(down), world(pendingPod), world(v2, noPod, sibling(true)), world(unheard)} {
		v := Decide(w)
		s := &w.InstanceManager.Status
		s.CurrentState, s.IP, s.Conditions = v.Status.State, v.Status.IP, v.Status.Conditions
		s.APIVersion, s.APIMinVersion, s.ProxyAPIVersion, s.ProxyAPIMinVersion = v.Status.Version.API, v.Status.Version.APIMin,
			v.Status.Version.Proxy, v.Status.Version.ProxyMin
		w.Now = now.Add(time.Hour)
		require.False(t, Decide(w).Status.Changed(w.InstanceManager))
	}
}

func TestMaps(t *testing.T) {
	type counts struct{ engines, frontends, replicas int }
	engine, replica, frontend := v1beta2.InstanceTypeEngine, v1beta2.InstanceTypeReplica, v1beta2.InstanceTypeEngineFrontend
	cases := []struct {
		name  string
		world World
		want  counts // entries that change
		held  int
	}{
		{"the same again changes nothing", world(listed(replica, "running"), recorded(replica, "running")), counts{}, 0},
		{"a new instance is one entry", world(listed(engine, "running")), counts{engines: 1}, 0},
		{"another state is one entry", world(listed(replica, "error"), recorded(replica, "running")), counts{replicas: 1}, 0},
		{"what a v1 list lacks goes", world(recorded(replica, "running")), counts{replicas: 1}, 0},
		{"what a settled v2 list lacks goes", world(v2, recorded(engine, "running")), counts{engines: 1}, 0},
		{"what an unsettled v2 list lacks stays", world(v2, unsettled, recorded(engine, "running")), counts{}, 1},
		{"a replica that a v2 list lacks stays: its disk may not be loaded", world(v2, recorded(replica, "running")), counts{}, 0},
		{"until it is proven not to be there", world(v2, provenGone, recorded(replica, "running")), counts{replicas: 1}, 0},
		{"a v1 list is always settled", world(unsettled, recorded(engine, "running")), counts{engines: 1}, 0},
		{"without a pod v1 keeps no replica", world(unheard, noPod, recorded(replica, "running")), counts{replicas: 1}, 0},
		{"unknown with a pod concludes nothing", world(unheard, recorded(replica, "running")), counts{}, 0},
		{"a v1 pod that ended took its processes along", world(unheard, failedPod, recorded(engine, "running")), counts{engines: 1}, 0},
		{"so did one that was replaced and has no address yet", world(unheard, pendingPod, recorded(engine, "running")), counts{engines: 1},
			0},
		{"a v2 pod that ended took its engines along", world(v2, unheard, failedPod, recorded(engine, "running")), counts{engines: 1}, 0},
		{"but neither lvols", world(v2, unheard, failedPod, recorded(replica, "running")), counts{}, 0},
		{"nor frontends", world(v2, unheard, failedPod, recorded(frontend, "running")), counts{}, 0},
		{"a node that is down concludes nothing from a missing pod", world(unheard, noPod, down, recorded(engine, "running")), counts{}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.want, counts{len(v.Maps.Engines), len(v.Maps.EngineFrontends), len(v.Maps.Replicas)})
			require.Len(t, v.Held, c.held)
		})
	}
}

func TestRoster(t *testing.T) {
	w := world()
	got := Roster("node-1", w.Kubernetes, w.Node, w.Settings, nil, nil)
	require.Len(t, got, 2, "one for each enabled data engine")
	require.Equal(t, "instance-manager-4a6b19dd2530598d67a1761c8d33e27c", got[0].Name)
	require.Equal(t, "imi-cb0c23ee", got[0].Labels[v1beta2.LabelInstanceManagerImage])
	require.Len(t, Roster("node-1", w.Kubernetes, w.Node, w.Settings, nil, map[string]bool{got[0].Name: true}), 1,
		"what exists is not made")
	noImage := w.Settings
	noImage.Image = ""
	require.Empty(t, Roster("node-1", w.Kubernetes, w.Node, noImage, nil, nil), "no image, no instance manager")
	require.Empty(t, Roster("node-1", nil, w.Node, w.Settings, nil, nil), "no Kubernetes node")
	require.Empty(t, Roster("node-1", w.Kubernetes, nil, w.Settings, nil, nil), "no Node")
	w.Kubernetes.Labels = map[string]string{node.LabelDisableV2: "true"}
	require.Len(t, Roster("node-1", w.Kubernetes, w.Node, w.Settings, nil, nil), 1, "the label keeps v2 away")
	deletedNode(&w)
	require.Empty(t, Roster("node-1", w.Kubernetes, w.Node, w.Settings, nil, nil), "a Node that is being deleted gets none")
}

func TestBackoff(t *testing.T) {
	want := []time.Duration{0, 0, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second,
		5 * time.Minute, 5 * time.Minute}
	for failures, wait := range want {
		require.Equal(t, wait, Backoff(failures), "after %d failures", failures)
	}
	require.Equal(t, 5*time.Minute, Backoff(1_000_000))
}

func TestAnInventoryFollowsOnlyAPodThatHasAnAddressAndDidNotEnd(t *testing.T) {
	addressed := func(phase corev1.PodPhase) func(*World) {
		return func(w *World) { w.Pod = runningPod(*w); w.Pod.Status.Phase = phase }
	}
	for name, c := range map[string]struct {
		world World
		want  bool
	}{
		"no pod":                        {world(noPod), false},
		"no address yet":                {world(pendingPod), false},
		"an address before it is ready": {world(addressed(corev1.PodPending)), true},
		"ready":                         {world(), true},
		"being deleted":                 {world(deletingPod), true},
		"failed":                        {world(failedPod), false},
		"ended":                         {world(addressed(corev1.PodSucceeded)), false},
		"of a node that is down":        {world(down), true},
	} {
		require.Equal(t, c.want, Decide(c.world).Connect, name)
	}
}

func TestASilentServerIsEvaluatedAgainWithoutAnEvent(t *testing.T) {
	require.Equal(t, 15*time.Second, Decide(world(unheard)).After)
	require.Zero(t, Decide(world()).After, "one that answers is evaluated again only for an event")
}

func TestHeldInstancesAreNamedInOrder(t *testing.T) {
	w := world(v2, unsettled, recorded(v1beta2.InstanceTypeEngine, "running"))
	for _, name := range []string{"vol-9", "vol-0", "vol-5"} {
		w.InstanceManager.Status.InstanceEngines[name] = v1beta2.InstanceProcess{}
	}
	w.InstanceManager.Status.InstanceEngineFrontends = map[string]v1beta2.InstanceProcess{"vol-4": {}}
	require.Equal(t, []string{"vol-0", "vol-1", "vol-4", "vol-5", "vol-9"}, Decide(w).Held)
}

func TestANewInstanceManagerBelongsToItsNode(t *testing.T) {
	w := world()
	im := Roster("node-1", w.Kubernetes, w.Node, w.Settings, nil, nil)[1]
	require.Equal(t, v1beta2.InstanceManagerSpec{NodeID: "node-1", Image: newImage, DataEngine: "v2", Type: "aio"}, im.Spec)
	require.Equal(t, []metav1.OwnerReference{{APIVersion: "longhorn.io/v1beta2", Kind: "Node", Name: "node-1", UID: "node-uid"}},
		im.OwnerReferences)
}

func TestEachFieldOfTheStatusIsAChange(t *testing.T) {
	im := manager(newImage, v1beta2.DataEngineV1)
	stored := Status{State: "running", IP: "10.1.2.3", Version: Version{API: 7, APIMin: 1, Proxy: 6, ProxyMin: 2},
		Conditions: []v1beta2.Condition{{Type: v1beta2.InstanceManagerReachable, Status: v1beta2.ConditionTrue}}}
	s := &im.Status
	s.CurrentState, s.IP, s.Conditions = stored.State, stored.IP, stored.Conditions
	s.APIVersion, s.APIMinVersion, s.ProxyAPIVersion, s.ProxyAPIMinVersion = 7, 1, 6, 2
	require.False(t, stored.Changed(im))
	for name, change := range map[string]func(*Status){
		"state": func(s *Status) { s.State = "error" }, "address": func(s *Status) { s.IP = "" },
		"API": func(s *Status) { s.Version.API = 8 }, "least API": func(s *Status) { s.Version.APIMin = 8 },
		"proxy": func(s *Status) { s.Version.Proxy = 8 }, "least proxy": func(s *Status) { s.Version.ProxyMin = 8 },
		"condition": func(s *Status) {
			s.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceManagerReachable, Status: "False"}}
		},
		"no condition": func(s *Status) { s.Conditions = nil },
	} {
		changed := stored
		change(&changed)
		require.True(t, changed.Changed(im), name)
	}
	im.Status.Conditions = append(im.Status.Conditions, v1beta2.Condition{Type: "OfSomebodyElse"})
	require.False(t, stored.Changed(im), "what another controller wrote is no change")
}

func TestTheStatusKeepsTheNewestVersionThatWasRead(t *testing.T) {
	recordedVersion := func(w *World) {
		w.InstanceManager.Status.APIVersion, w.InstanceManager.Status.ProxyAPIMinVersion = 3, 4
	}
	require.Equal(t, Version{7, 1, 7, 1}, Decide(world(recordedVersion)).Status.Version)
	require.Equal(t, Version{API: 3, ProxyMin: 4}, Decide(world(recordedVersion, unheard)).Status.Version, "no one knows a newer one")
}

func TestTheStatusKeepsSinceWhenAConditionHolds(t *testing.T) {
	w := world()
	first := Decide(w)
	write(w.InstanceManager, first)
	w.Now = now.Add(time.Hour)
	w.Kubernetes.Ready = false
	since := func(kind string) string { return conditions.Get(Decide(w).Status.Conditions, kind).LastTransitionTime }
	require.Equal(t, "2026-01-02T03:04:05Z", since(v1beta2.InstanceManagerPodReady))
	require.Equal(t, "2026-01-02T04:04:05Z", since(v1beta2.InstanceManagerNodeReady), "its status changed")
}

func TestTheStatusLosesTheConditionsOfAPodThatIsGone(t *testing.T) {
	w := world(v2)
	w.InstanceManager.Status.Conditions = append(Decide(w).Status.Conditions, v1beta2.Condition{Type: "OfSomebodyElse"})
	w.Pod = nil
	left := Decide(w).Status.Conditions
	require.Nil(t, conditions.Get(left, v1beta2.InstanceManagerReachable))
	require.Nil(t, conditions.Get(left, v1beta2.InstanceManagerFrontendRecords))
	require.Nil(t, conditions.Get(left, "OfSomebodyElse"), "the verdict has what is written here alone")
	require.NotNil(t, conditions.Get(left, v1beta2.InstanceManagerNodeReady))
}

// drawWorld is any world in which only a pod that runs has answered.
func drawWorld(t *rapid.T) World {
	same := func(*World) {}
	one := func(label string, options ...func(*World)) func(*World) {
		return options[rapid.IntRange(0, len(options)-1).Draw(t, label)]
	}
	kinds := []string{v1beta2.InstanceTypeEngine, v1beta2.InstanceTypeReplica, v1beta2.InstanceTypeEngineFrontend}
	instances := func(label string, of func(kind, state string) func(*World)) func(*World) {
		kind := rapid.SampledFrom(append(kinds, "")).Draw(t, label)
		if kind == "" {
			return same
		}
		return of(kind, rapid.SampledFrom([]string{"running", "stopped", "error"}).Draw(t, label+" state"))
	}
	upgrade := func(w *World) {
		inUpgrade(rapid.SampledFrom([]string{v1beta2.UpgradeStateInitializing, v1beta2.UpgradeStateUpgradingInstanceManager,
			v1beta2.UpgradeStateSwitchingBack}).Draw(t, "upgrade state"))(w)
	}
	w := world(one("engine", same, v2, upgrade), one("image", same, old, isOld), one("siblings", same, sibling(true), sibling(false)),
		one("node", same, deletedNode, noNode, requested, loadingDisk),
		one("machine", same, down, gone), one("list", same, same, unsettled, unheard, func(w *World) { w.Inventory = Inventory{} }),
		one("asked", same, asked), instances("listed", listed), instances("recorded", recorded), one("frontends", same, leads()),
		one("state", same, ran, func(w *World) { w.InstanceManager.Status.CurrentState = v1beta2.InstanceManagerStateRunning }),
		one("pod", same, noPod, failedPod, pendingPod, deletingPod, withoutImage, otherSettings, noMount),
		one("retry", same, func(w *World) { w.RetryAt = now.Add(time.Minute) }),
		one("volumes", same, func(w *World) { w.Unsettled = "volume vol is attaching" }),
		one("deleted", same, same, func(w *World) { w.InstanceManager.DeletionTimestamp = &metav1.Time{Time: now} }))
	if w.Pod == nil || w.Pod.Status.Phase != corev1.PodRunning {
		unheard(&w)
	}
	return w
}

func otherSettings(w *World) {
	w.Pod = runningPod(*w)
	w.Settings.PriorityClass = "high"
}

func TestAPodIsDeletedOnlyWhereNothingCanRunInIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		listed := w.Inventory.Processes
		switch v := Decide(w); {
		case v.Pod == ForceDeletePod:
			require.Nil(t, w.Kubernetes, "the machine is proven gone")
		case v.Pod == DeletePod && v.Failed:
			require.Equal(t, corev1.PodFailed, w.Pod.Status.Phase)
		case v.Pod == DeletePod && w.Pod.Status.Phase == corev1.PodRunning:
			require.True(t, w.Inventory.Known && w.Inventory.Asked, "a list begun for it shows that nothing runs")
			require.Empty(t, listed.Engines)
			require.True(t, w.v2() || len(listed.Replicas) == 0)
			require.True(t, w.Upgrade != nil || len(listed.EngineFrontends) == 0, "only an upgrade counts on frontends that outlive a pod")
		case v.Pod == DeletePod:
			require.Equal(t, corev1.PodPending, w.Pod.Status.Phase)
		}
	})
}

func TestAVerdictDoesOneThingAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := Decide(w)
		if v.Pod == CreatePod || v.Remove {
			require.Nil(t, w.Pod)
		}
		require.False(t, v.Remove && v.Pod != KeepPod)
		require.False(t, v.Ask && (v.Remove || v.Pod != KeepPod))
		if v.Ask {
			asked(&w)
			require.False(t, Decide(w).Ask, "the list that was begun for it is enough")
		}
	})
}

func TestANodeThatIsDownStartsAndEndsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.Kubernetes = &node.Kubernetes{}
		v := Decide(w)
		require.Equal(t, KeepPod, v.Pod)
		require.False(t, v.Remove)
		require.True(t, w.Inventory.Known || v.Maps.Empty(), "nothing that is seen there is the truth")
	})
}

func TestDecidingOnTheWrittenStatusWritesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		before, pod := w.InstanceManager.DeepCopy(), w.Pod.DeepCopy()
		v := Decide(w)
		require.Equal(t, before, w.InstanceManager, "what was read comes from a cache and stays as it is")
		require.Equal(t, pod, w.Pod)
		write(w.InstanceManager, v)
		again := Decide(w)
		require.True(t, again.Maps.Empty())
		if v.Maps.Empty() { // an entry that goes was part of the decision
			require.False(t, again.Status.Changed(w.InstanceManager))
			require.Equal(t, v.Pod, again.Pod, "what was decided is not taken back by its own status")
		}
	})
}

// write stores what a verdict changes in the status.
func write(im *v1beta2.InstanceManager, v Verdict) {
	s := &im.Status
	s.CurrentState, s.IP, s.Conditions = v.Status.State, v.Status.IP, v.Status.Conditions
	s.APIVersion, s.APIMinVersion, s.ProxyAPIVersion, s.ProxyAPIMinVersion = v.Status.Version.API, v.Status.Version.APIMin,
		v.Status.Version.Proxy, v.Status.Version.ProxyMin
	for _, m := range []struct {
		into    *map[string]v1beta2.InstanceProcess
		changes map[string]*v1beta2.InstanceProcess
	}{{&s.InstanceEngines, v.Maps.Engines}, {&s.InstanceEngineFrontends, v.Maps.EngineFrontends}, {&s.InstanceReplicas, v.Maps.Replicas}} {
		for name, process := range m.changes {
			if process == nil {
				delete(*m.into, name)
				continue
			}
			if *m.into == nil {
				*m.into = map[string]v1beta2.InstanceProcess{}
			}
			(*m.into)[name] = *process
		}
	}
}

// A node's huge pages and disks serve one SPDK process.
func TestOfTheV2InstanceManagersOfANodeOneStartsAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		images := rapid.SampledFrom([]string{newImage, oldImage, "longhornio/longhorn-instance-manager:v1.8.0"})
		upgrade := rapid.SampledFrom([]func(*World){func(*World) {}, requested, inUpgrade(v1beta2.UpgradeStateInitializing),
			inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager)}).Draw(t, "upgrade")
		var all []World
		for _, name := range []string{"a", "b", "c"} {
			w := world(v2, noPod, upgrade, func(w *World) { w.InstanceManager.Spec.Image = images.Draw(t, "image of "+name) })
			w.InstanceManager.Name = name
			w.InstanceManager.Status.CurrentState = rapid.SampledFrom([]string{"", "stopped", "error"}).Draw(t, "state of "+name)
			if rapid.Bool().Draw(t, name+" has a frontend") {
				recorded(v1beta2.InstanceTypeEngineFrontend, "running")(&w)
			}
			all = append(all, w)
		}
		var starts, wanted, moves []string
		for i, w := range all {
			for j, other := range all {
				if i != j {
					w.Siblings = append(w.Siblings, Sibling{Name: other.InstanceManager.Name, Image: other.InstanceManager.Spec.Image,
						New: isNew(other)})
				}
			}
			v := Decide(w)
			if v.Pod == CreatePod {
				starts = append(starts, w.InstanceManager.Name)
			}
			if v.Remove || v.Pod == CreatePod {
				moves = append(moves, w.InstanceManager.Name)
			}
			if w.InstanceManager.Spec.Image == w.wantedImage() {
				wanted = append(wanted, w.InstanceManager.Name)
			}
		}
		require.LessOrEqual(t, len(starts), 1, "%v start side by side", starts)
		require.True(t, len(wanted) == 0 || len(moves) > 0, "all wait for each other, and %v are wanted", wanted)
	})
}

func TestAKnownListKeepsAPendingPodInWhichSomethingRuns(t *testing.T) {
	for _, engine := range []func(*World){func(*World) {}, v2} {
		w := world(engine, old, pendingPod, listed(v1beta2.InstanceTypeEngine, "running"))
		w.Pod.Status.PodIP = "10.1.2.3"
		require.True(t, Decide(w).Connect)
		require.Equal(t, KeepPod, Decide(w).Pod)
	}
}

func TestDecideIsDeterministic(t *testing.T) {
	w := world(v2)
	first := Decide(w)
	for range 100 {
		require.Equal(t, first, Decide(w))
	}
}
