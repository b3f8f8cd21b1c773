package instancemanager

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const (
	newImage = "longhornio/longhorn-instance-manager:v1.10.0"
	oldImage = "longhornio/longhorn-instance-manager:v1.9.0"
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
		{"an old v2 one that has to start goes before the new one", world(v2, old, noPod, recorded(engine, "running"), sibling(false)),
			Verdict{Pod: CreatePod}},
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
	require.Equal(t, "instance-manager-8f4b8f9527799bc7afb7425460c719ed", got[0].Name)
	require.Equal(t, "imi-dd3e0865", got[0].Labels[v1beta2.LabelInstanceManagerImage])
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
