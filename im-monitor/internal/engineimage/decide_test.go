package engineimage

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"os/exec"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func pid(c *exec.Cmd) string { return strconv.Itoa(c.Process.Pid) }

const (
	image = "longhornio/longhorn-engine:v1.12.0"
	name  = "ei-88453db6"
)

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// world is the default image on two ready nodes, deployed and read, which two objects refer to.
func world(changes ...func(*World)) World {
	w := World{Now: now, Name: name, Options: Options{Namespace: "longhorn-system", ServiceAccount: "longhorn-service-account",
		ControlPath: "/var/lib/longhorn"}, Settings: setting.Defaults(),
		Image: &v1beta2.EngineImage{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "longhorn-system", UID: "u-1",
			Labels: labels(name), Finalizers: []string{v1beta2.Finalizer}}, Spec: v1beta2.EngineImageSpec{Image: image}},
		Nodes:      []Node{{Name: "node-1", Ready: true}, {Name: "node-2", Ready: true}},
		Pods:       []Pod{{Name: "p-1", Node: "node-1", Ready: true}, {Name: "p-2", Node: "node-2", Ready: true}},
		References: References{Count: 2},
	}
	w.Settings.EngineImage = image
	w.Image.Status.EngineVersions = v1beta2.EngineVersions{Version: "v1.12.0", CLIAPIVersion: 12, CLIAPIMinVersion: 8}
	w.DaemonSet = DaemonSetFor(w)
	for _, change := range changes {
		change(&w)
	}
	return w
}

func otherDefault(w *World)  { w.Settings.EngineImage = "longhornio/longhorn-engine:v1.13.0" }
func noDefault(w *World)     { w.Settings.EngineImage = "" }
func unreferenced(w *World)  { w.References.Count = 0 }
func fresh(w *World)         { w.References.Fresh = true }
func deleting(w *World)      { w.Image.DeletionTimestamp = &metav1.Time{Time: now} }
func noDaemonSet(w *World)   { w.DaemonSet, w.Pods = nil, nil }
func unread(w *World)        { w.Image.Status.EngineVersions = v1beta2.EngineVersions{} }
func node2Waits(w *World)    { w.Pods[1].Ready, w.Pods[1].Problem = false, "ErrImagePull not found" }
func noImageObject(w *World) { w.Image, w.DaemonSet = nil, nil }

func since(d time.Duration) func(*World) {
	return func(w *World) { w.Image.Status.NoRefSince = now.Add(-d).Format(time.RFC3339) }
}

func versionPod(phase corev1.PodPhase, code int32, message string) func(*World) {
	return func(w *World) {
		p := VersionPodFor(*w)
		p.Spec.NodeName, p.Status.Phase = "node-1", phase
		if phase == corev1.PodSucceeded || phase == corev1.PodFailed {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message}}}}
		}
		w.VersionPod = p
	}
}

func changedSelector(w *World) { w.Settings.NodeSelector = map[string]string{"disk": "ssd"} }
func runs(w *World)            { w.References.Runs = true }
func ofLonghorn(w *World)      { delete(w.DaemonSet.Annotations, AnnotationSettings) }
func changedProbe(w *World)    { w.Settings.EngineProbe.Timeout = 30 }

const report = `{"clientVersion":{"version":"v1.12.0","gitCommit":"abc","cliAPIVersion":12,"cliAPIMinVersion":8},"serverVersion":null}`

func TestWhatIsDone(t *testing.T) {
	nothing := Verdict{}
	cases := []struct {
		name   string
		world  World
		want   Verdict
		reason string
	}{
		{"a deployed image needs nothing", world(), nothing, v1beta2.ReasonDeployed},
		{"an image that is not the default one and does not exist is none of ours", world(noImageObject, otherDefault), nothing, ""},
		{"a missing DaemonSet is created", world(noDaemonSet), Verdict{DaemonSet: Create}, v1beta2.ReasonDaemonSetMissing},
		{"a missing finalizer is added", world(func(w *World) { w.Image.Finalizers = nil }), Verdict{Mark: true}, v1beta2.ReasonDeployed},
		{"a missing label is added", world(func(w *World) { w.Image.Labels = nil }), Verdict{Mark: true}, v1beta2.ReasonDeployed},
		{"an object without an image waits for a person", world(noDaemonSet, func(w *World) { w.Image.Spec.Image = "" }), nothing,
			v1beta2.ReasonImageMissing},
		{"a node without the binary is named", world(node2Waits), nothing, v1beta2.ReasonPodsNotReady},

		{"versions are read where the image is", world(unread), Verdict{VersionPod: Create}, v1beta2.ReasonBinaryUnread},
		{"not while no node has it", world(unread, func(w *World) { w.Pods = nil }), nothing, v1beta2.ReasonPodsNotReady},
		{"not on a node that is down", world(unread, func(w *World) { w.Nodes[0].Ready, w.Nodes[1].Ready = false, false }), nothing,
			v1beta2.ReasonBinaryUnread},
		{"not at once after a failure", world(unread, func(w *World) { w.RetryAt = now.Add(time.Minute) }), Verdict{After: time.Minute},
			v1beta2.ReasonBinaryUnread},
		{"a pod that reads is left alone", world(unread, versionPod(corev1.PodRunning, 0, "")), nothing, v1beta2.ReasonBinaryUnread},
		{"what it has read is written before it goes", world(unread, versionPod(corev1.PodSucceeded, 0, report)), nothing,
			v1beta2.ReasonDeployed},
		{"then it goes", world(versionPod(corev1.PodSucceeded, 0, report)), Verdict{VersionPod: Delete}, v1beta2.ReasonDeployed},
		{"a pod without an answer goes", world(unread, versionPod(corev1.PodFailed, 127, "not found")),
			Verdict{VersionPod: Delete, Failed: true}, v1beta2.ReasonBinaryUnread},
		{"a pod with half an answer goes", world(unread, versionPod(corev1.PodSucceeded, 0, `{"clientVersion":{`)),
			Verdict{VersionPod: Delete, Failed: true}, v1beta2.ReasonBinaryUnread},
		{"a pod goes whose node is down", world(unread, versionPod(corev1.PodRunning, 0, ""), func(w *World) { w.Nodes[0].Ready = false }),
			Verdict{VersionPod: Delete, Failed: true}, v1beta2.ReasonBinaryUnread},
		{"a command line that is too old", world(func(w *World) { w.Image.Status.CLIAPIVersion = 7 }), nothing,
			v1beta2.ReasonBinaryIncompatible},
		{"a command line that is too new", world(func(w *World) { w.Image.Status.CLIAPIVersion, w.Image.Status.CLIAPIMinVersion = 14, 13 }),
			nothing, v1beta2.ReasonBinaryIncompatible},

		{"changed settings wait while a process runs", world(changedSelector, runs), Verdict{After: idlePause}, v1beta2.ReasonDeployed},
		{"they are applied once none does", world(changedSelector), Verdict{DaemonSet: Change}, v1beta2.ReasonDeployed},
		{"Longhorn's DaemonSet keeps what it has", world(ofLonghorn, changedSelector), nothing, v1beta2.ReasonDeployed},
		{"the probe is changed at once, also of Longhorn's DaemonSet", world(ofLonghorn, runs, changedProbe), Verdict{DaemonSet: Change},
			v1beta2.ReasonDeployed},
		{"a DaemonSet without a liveness probe keeps none", world(ofLonghorn, changedProbe, func(w *World) {
			w.DaemonSet.Spec.Template.Spec.Containers[0].LivenessProbe = nil
		}), nothing, v1beta2.ReasonDeployed},
		{"a DaemonSet that ends is waited for", world(func(w *World) {
			w.DaemonSet.DeletionTimestamp = &metav1.Time{Time: now}
		}, changedProbe), nothing, v1beta2.ReasonDeployed},

		{"an image without references stays for an hour", world(otherDefault, unreferenced, since(59*time.Minute)),
			Verdict{After: time.Minute}, v1beta2.ReasonDeployed},
		{"it goes by what was read for that", world(otherDefault, unreferenced, since(time.Hour)), Verdict{Recount: true},
			v1beta2.ReasonDeployed},
		{"then it goes", world(otherDefault, unreferenced, since(time.Hour), fresh), Verdict{Delete: true}, v1beta2.ReasonDeployed},
		{"the hour begins when nothing refers to it", world(otherDefault, unreferenced), Verdict{After: time.Hour}, v1beta2.ReasonDeployed},
		{"a reference that only the API server showed keeps it", world(otherDefault, since(time.Hour), fresh), nothing,
			v1beta2.ReasonDeployed},
		{"the default image stays", world(unreferenced, since(time.Hour), fresh), nothing, v1beta2.ReasonDeployed},
		{"without a default image none goes", world(noDefault, unreferenced, since(time.Hour), fresh), nothing, v1beta2.ReasonDeployed},

		{"a deleted image stays while it is the default", world(deleting, unreferenced, fresh), Verdict{After: recountPause},
			v1beta2.ReasonDeployed},
		{"and while something refers to it", world(deleting, otherDefault, fresh), Verdict{After: recountPause}, v1beta2.ReasonDeployed},
		{"its missing DaemonSet is created all the same", world(deleting, noDaemonSet), Verdict{DaemonSet: Create, After: recountPause},
			v1beta2.ReasonDaemonSetMissing},
		{"it goes by what was read for that", world(deleting, otherDefault, unreferenced), Verdict{Recount: true}, ""},
		{"its DaemonSet goes first", world(deleting, otherDefault, unreferenced, fresh), Verdict{DaemonSet: Delete}, ""},
		{"with the pod that reads versions", world(deleting, otherDefault, unreferenced, fresh, versionPod(corev1.PodRunning, 0, "")),
			Verdict{DaemonSet: Delete, VersionPod: Delete}, ""},
		{"then it is released", world(deleting, otherDefault, unreferenced, fresh, noDaemonSet), Verdict{Release: true}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Decide(c.world)
			require.Equal(t, c.reason, conditions.Reason(got.Status.Conditions, v1beta2.EngineImageReady))
			if c.world.Image != nil && !got.Recount {
				// Deciding again on what was written changes nothing.
				again := c.world
				again.Image = c.world.Image.DeepCopy()
				again.Image.Status = got.Status
				second := Decide(again)
				require.True(t, Same(got.Status, second.Status))
			}
			got.Status = v1beta2.EngineImageStatus{}
			require.Equal(t, c.want, got)
		})
	}
}

func TestTheDefaultImageIsCreatedByTheHashOfItsName(t *testing.T) {
	got := Decide(world(noImageObject)).Create
	require.NotNil(t, got)
	require.Equal(t, "ei-88453db6", got.Name)
	require.Equal(t, image, got.Spec.Image)
	require.Equal(t, []string{"longhorn.io"}, got.Finalizers)
	require.Equal(t, map[string]string{"longhorn.io/component": "engine-image", "longhorn.io/engine-image": "ei-88453db6",
		"longhorn.io/managed-by": "longhorn-manager"}, got.Labels)
}

func TestTheStatusReportsWhereTheBinaryIs(t *testing.T) {
	w := world(node2Waits, func(w *World) {
		w.Nodes = append(w.Nodes, Node{Name: "node-3"}, Node{Name: "node-4", Ready: true, Labels: map[string]string{"disk": "hdd"}})
		w.DaemonSet.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		w.Nodes[0].Labels, w.Nodes[1].Labels = map[string]string{"disk": "ssd"}, map[string]string{"disk": "ssd"}
		w.Image.Status.NodeDeploymentMap = map[string]bool{"gone": true}
	})
	s := Decide(w).Status
	require.Equal(t, map[string]bool{"node-1": true, "node-2": false, "node-3": false, "node-4": false}, s.NodeDeploymentMap)
	require.Equal(t, "deploying", s.State)
	require.Equal(t, 2, s.RefCount)
	require.Empty(t, s.NoRefSince)
	ready := conditions.Get(s.Conditions, "ready")
	require.Equal(t, v1beta2.ConditionFalse, ready.Status)
	require.Equal(t, "The binary of image longhornio/longhorn-engine:v1.12.0 is not on node node-2 (pod p-2: ErrImagePull not found). "+
		"v1 volumes do not start there until its pod of DaemonSet engine-image-ei-88453db6 is ready.", ready.Message)
	w.Pods[1].Ready = true
	require.Equal(t, "deployed", Decide(w).Status.State, "neither a node that is down nor one that is not chosen counts")
	w.Pods = nil
	for _, n := range []string{"node-5", "node-6", "node-7"} {
		w.Nodes = append(w.Nodes, Node{Name: n, Ready: true, Labels: map[string]string{"disk": "ssd"}})
	}
	require.Contains(t, conditions.Get(Decide(w).Status.Conditions, "ready").Message,
		"is not on node node-1 (no pod), node node-2 (no pod), node node-5 (no pod), 2 more nodes.")
}

func TestAHeldDeletionReportsWhatHoldsIt(t *testing.T) {
	require.Nil(t, conditions.Get(Decide(world()).Status.Conditions, v1beta2.EngineImageRemoved))
	held := conditions.Get(Decide(world(deleting, unreferenced)).Status.Conditions, v1beta2.EngineImageRemoved)
	require.Equal(t, v1beta2.ReasonIsDefaultImage, held.Reason)
	require.Contains(t, held.Message, "default-engine-image names image "+image)
	held = conditions.Get(Decide(world(deleting, otherDefault)).Status.Conditions, v1beta2.EngineImageRemoved)
	require.Equal(t, v1beta2.ReasonReferenced, held.Reason)
	require.Contains(t, held.Message, "2 Volumes, Engines and Replicas name image "+image)
}

func TestAChangeOfTheProbesLeavesTheRestAlone(t *testing.T) {
	w := world(changedProbe, changedSelector, runs)
	got := Changed(w)
	require.Equal(t, int32(30), got.Spec.Template.Spec.Containers[0].LivenessProbe.TimeoutSeconds)
	require.Empty(t, got.Spec.Template.Spec.NodeSelector)
	require.Equal(t, w.DaemonSet.Annotations, got.Annotations)
	w.References.Runs = false
	got = Changed(w)
	require.Equal(t, map[string]string{"disk": "ssd"}, got.Spec.Template.Spec.NodeSelector)
	w.DaemonSet = got
	require.Equal(t, Leave, w.daemonSetAction())
}

// What the API server fills in must not look like another DaemonSet than the wanted one.
func TestADaemonSetThatTheAPIServerCompletedIsNotChanged(t *testing.T) {
	w := world()
	raw, err := json.Marshal(w.DaemonSet)
	require.NoError(t, err)
	stored := &appsv1.DaemonSet{}
	require.NoError(t, json.Unmarshal(raw, stored))
	stored.Spec.Template.Spec.Containers[0].LivenessProbe.SuccessThreshold = 1
	w.DaemonSet = stored
	require.Equal(t, Leave, w.daemonSetAction())
}
