package engineimagecontroller_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/cachetransform"
	"drover.dev/drover/im-monitor/internal/engineimage"
	"drover.dev/drover/im-monitor/internal/engineimagecontroller"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	patience = 30 * time.Second
	poll     = testkit.Poll
	watched  = time.Second

	image, name   = "longhornio/longhorn-engine:v1.12.0", "ei-88453db6"
	other         = "longhornio/longhorn-engine:v1.13.0"
	daemonSet     = "engine-image-" + name
	versionPod    = daemonSet + "-version"
	versionReport = `{"clientVersion":{"version":"v1.12.0","gitCommit":"abc","cliAPIVersion":12,"cliAPIMinVersion":8},"serverVersion":null}`
)

// world is a namespace with two ready nodes, and a DaemonSet controller with kubelets that run what is created there.
type world struct {
	t         *testing.T
	admin     client.WithWatch
	namespace string
	nodes     []string
	process   *shell.Process
}

func newWorld(t *testing.T, nodes ...string) *world {
	t.Helper()
	w := &world{t: t, admin: testkit.Admin(t), namespace: testkit.Namespace(t), nodes: nodes}
	for _, n := range nodes {
		w.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n}})
		w.create(&v1beta2.Node{ObjectMeta: w.named(n)})
		require.NoError(t, status.MergeStatus(t.Context(), w.admin, &v1beta2.Node{ObjectMeta: w.named(n)}, map[string]any{
			"conditions": status.ConditionsField([]v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue,
				Reason: v1beta2.ReasonNodeReady}})}))
	}
	return w
}

// start runs the controller; with a point it is cut there, and runs again.
func (w *world) start(at cut.Point) *world {
	w.t.Helper()
	identity := testkit.BinaryIdentity(w.t, w.namespace, "im-monitor")
	run := func(at cut.Point) *shell.Process {
		return shell.Start(w.t, shell.Options{Identity: identity, Namespace: w.namespace,
			Owner: "im-monitor", Cache: cachetransform.Cache(), At: at}, func(ctx context.Context, rt *runkit.Runtime) error {
			settings := settingcontroller.NewSource(rt.Client, rt.Namespace, setting.Defaults().Pods)
			return engineimagecontroller.Setup(ctx, rt, settings, engineimage.Options{ServiceAccount: "default",
				ControlPath: "/var/lib/longhorn"})
		})
	}
	w.process = run(at)
	first, ended := w.process, make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(ended)
		select {
		case <-first.Ended():
		case <-ctx.Done():
			first.Stop()
			<-first.Ended()
			return
		}
		if ctx.Err() != nil {
			return
		}
		second := run(cut.Point{})
		<-ctx.Done()
		second.Stop()
		<-second.Ended()
	}()
	w.t.Cleanup(func() { cancel(); <-ended })
	testkit.React(w.t, w.admin, w.namespace, w.kubelet, &corev1.PodList{}, &appsv1.DaemonSetList{})
	return w
}

func (w *world) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) create(o client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), o))
	if o.GetNamespace() == "" {
		w.t.Cleanup(func() { require.NoError(w.t, client.IgnoreNotFound(w.admin.Delete(context.Background(), o))) })
	}
}

func (w *world) set(name, value string) {
	w.t.Helper()
	s := &v1beta2.Setting{ObjectMeta: w.named(name), Value: value}
	if client.IgnoreAlreadyExists(w.admin.Create(w.t.Context(), s)) == nil && s.UID != "" {
		return
	}
	raw := client.RawPatch("application/merge-patch+json", []byte(`{"value":"`+value+`"}`))
	require.NoError(w.t, w.admin.Patch(w.t.Context(), s, raw))
}

// kubelet gives each DaemonSet a ready pod on each node, runs the pod that reads versions, and ends what is deleted.
func (w *world) kubelet(ctx context.Context) error {
	var sets appsv1.DaemonSetList
	if err := w.admin.List(ctx, &sets, client.InNamespace(w.namespace)); err != nil {
		return err
	}
	for _, set := range sets.Items {
		for _, n := range w.nodes {
			pod := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: *set.Spec.Template.Spec.DeepCopy()}
			pod.Namespace, pod.Name, pod.Spec.NodeName = w.namespace, set.Name+"-"+n, n
			if err := client.IgnoreAlreadyExists(w.admin.Create(ctx, pod)); err != nil {
				return err
			}
		}
	}
	var pods corev1.PodList
	if err := w.admin.List(ctx, &pods, client.InNamespace(w.namespace)); err != nil {
		return err
	}
	for i := range pods.Items {
		if err := client.IgnoreNotFound(w.serve(ctx, &pods.Items[i])); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) serve(ctx context.Context, pod *corev1.Pod) error {
	switch {
	case pod.DeletionTimestamp != nil:
		return w.admin.Delete(ctx, pod, client.GracePeriodSeconds(0))
	case pod.Status.Phase != corev1.PodPending:
		return nil
	}
	state := corev1.ContainerStatus{Name: pod.Spec.Containers[0].Name, Ready: true,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	pod.Status.Phase = corev1.PodRunning
	if strings.HasSuffix(pod.Name, "-version") {
		state.Ready, pod.Status.Phase = false, corev1.PodSucceeded
		state.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: versionReport}}
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{state}
	return client.IgnoreNotFound(w.admin.Status().Update(ctx, pod))
}

// get reads an object; nil: it does not exist.
func get[T client.Object](w *world, name string, into T) (out T, found bool) {
	w.t.Helper()
	err := w.admin.Get(context.Background(), client.ObjectKey{Namespace: w.namespace, Name: name}, into)
	require.NoError(w.t, client.IgnoreNotFound(err))
	return into, err == nil
}

func (w *world) image() (*v1beta2.EngineImage, bool) { return get(w, name, &v1beta2.EngineImage{}) }

// deployed waits until the image is on every node and read, and nothing is left of the reading.
func (w *world) deployed() *v1beta2.EngineImage {
	w.t.Helper()
	var i *v1beta2.EngineImage
	w.eventually(func() bool {
		var found bool
		i, found = w.image()
		_, reads := get(w, versionPod, &corev1.Pod{})
		return found && !reads && conditions.Reason(i.Status.Conditions, v1beta2.EngineImageReady) == v1beta2.ReasonDeployed
	}, "the image is not deployed")
	return i
}

// gone waits until nothing is left of the image.
func (w *world) gone() {
	w.t.Helper()
	w.eventually(func() bool {
		_, image := w.image()
		_, set := get(w, daemonSet, &appsv1.DaemonSet{})
		return !image && !set
	}, "something is left of the image")
}

func (w *world) eventually(check func() bool, what string) {
	w.t.Helper()
	require.Eventually(w.t, check, patience, poll, what)
}

// unusedFor lets the image be without a reference for some time.
func (w *world) unusedFor(d time.Duration) {
	w.t.Helper()
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, &v1beta2.EngineImage{ObjectMeta: w.named(name)}, map[string]any{
		"noRefSince": time.Now().Add(-d).UTC().Format(time.RFC3339)}))
}

// life lets the default image come, be read, be replaced by another default, and go.
func (w *world) life() {
	w.t.Helper()
	w.set(setting.DefaultEngineImage, image)
	i := w.deployed()
	require.Equal(w.t, map[string]bool{w.nodes[0]: true, w.nodes[1]: true}, i.Status.NodeDeploymentMap)
	require.Equal(w.t, v1beta2.EngineImageDeployed, i.Status.State)
	require.Equal(w.t, v1beta2.EngineVersions{Version: "v1.12.0", GitCommit: "abc", CLIAPIVersion: 12, CLIAPIMinVersion: 8},
		i.Status.EngineVersions)
	require.Zero(w.t, i.Status.RefCount)
	require.NotEmpty(w.t, i.Status.NoRefSince)
	w.set(setting.DefaultEngineImage, other)
	w.eventually(func() bool { _, found := get(w, v1beta2.EngineImageName(other), &v1beta2.EngineImage{}); return found }, "the other image")
	w.unusedFor(2 * time.Hour)
	w.gone()
}

func TestTheDefaultImageComesIsReadAndGoes(t *testing.T) {
	newWorld(t, "life-1", "life-2").start(cut.Point{}).life()
}

// ALL-2: whichever write the process dies at, the next one finishes.
func TestAProcessThatDiesAtAnyWriteIsFollowedByOneThatFinishes(t *testing.T) {
	w := newWorld(t, "cut-1", "cut-2").start(cut.Point{})
	w.life()
	writes := w.process.Client.Writes()
	require.GreaterOrEqual(t, len(writes), 8, "%q", writes)
	for _, at := range cut.Share(cut.Points(len(writes)), oneCutOf) {
		t.Run(at.String(), func(t *testing.T) { newWorld(t, "cut-3", "cut-4").start(at).life() })
	}
}

// A quiet cluster sees no write.
func TestADeployedImageIsNotWrittenAgain(t *testing.T) {
	w := newWorld(t, "quiet-1", "quiet-2").start(cut.Point{})
	w.set(setting.DefaultEngineImage, image)
	w.deployed()
	before := w.process.Client.Writes()
	require.Never(t, func() bool { return len(w.process.Client.Writes()) != len(before) }, watched, poll)
	n := &corev1.Node{}
	require.NoError(t, w.admin.Get(t.Context(), client.ObjectKey{Name: "quiet-1"}, n))
	n.Labels = map[string]string{"zone": "a"}
	require.NoError(t, w.admin.Update(t.Context(), n))
	require.Never(t, func() bool { return len(w.process.Client.Writes()) != len(before) }, watched, poll, "%q", w.process.Client.Writes())
}

// longhorns creates an EngineImage and a DaemonSet as a longhorn-manager left them, with another command than ours.
func (w *world) longhorns() *appsv1.DaemonSet {
	w.t.Helper()
	i := &v1beta2.EngineImage{ObjectMeta: w.named(name), Spec: v1beta2.EngineImageSpec{Image: image}}
	i.Labels = map[string]string{v1beta2.LabelManagedBy: "longhorn-manager", v1beta2.LabelComponent: "engine-image",
		v1beta2.LabelEngineImage: name}
	i.Finalizers = []string{v1beta2.Finalizer}
	w.create(i)
	i.Status = v1beta2.EngineImageStatus{State: v1beta2.EngineImageDeployed, OwnerID: "old-1",
		NodeDeploymentMap: map[string]bool{"gone": true}, EngineVersions: v1beta2.EngineVersions{CLIAPIVersion: 11, CLIAPIMinVersion: 8}}
	require.NoError(w.t, w.admin.Status().Update(w.t.Context(), i))
	world := engineimage.World{Name: name, Image: i, Settings: setting.Defaults()}
	set := engineimage.DaemonSetFor(world)
	delete(set.Annotations, engineimage.AnnotationSettings)
	set.Spec.Template.Spec.Containers[0].Command = []string{"/bin/bash", "-c", "another text"}
	set.Spec.Template.Spec.ServiceAccountName = ""
	w.create(set)
	return set
}

// The pods of a DaemonSet that Longhorn created must not end for a difference of texts, or of settings.
func TestADaemonSetOfLonghornIsAdoptedUnchanged(t *testing.T) {
	w := newWorld(t, "adopt-1", "adopt-2")
	before := w.longhorns()
	w.set(setting.DefaultEngineImage, image)
	w.set(setting.PriorityClass, "system-node-critical")
	w.start(cut.Point{})
	i := w.deployed()
	require.Equal(t, map[string]bool{"adopt-1": true, "adopt-2": true}, i.Status.NodeDeploymentMap, "a node that is gone is removed")
	require.Equal(t, 11, i.Status.CLIAPIVersion, "what was read is not read again")
	require.Equal(t, "old-1", i.Status.OwnerID, "Longhorn's own field stays")
	set, found := get(w, daemonSet, &appsv1.DaemonSet{})
	require.True(t, found)
	require.Equal(t, before.UID, set.UID)
	require.Equal(t, before.Generation, set.Generation)
	for _, write := range w.process.Client.Writes() {
		require.NotContains(t, write, "DaemonSet")
		require.NotContains(t, write, "Pod")
	}
	w.set(setting.EngineProbeTimeout, "9")
	w.eventually(func() bool {
		set, _ := get(w, daemonSet, &appsv1.DaemonSet{})
		return set.Spec.Template.Spec.Containers[0].LivenessProbe.TimeoutSeconds == 9
	}, "the probe")
	set, _ = get(w, daemonSet, &appsv1.DaemonSet{})
	require.Equal(t, "another text", set.Spec.Template.Spec.Containers[0].Command[2])
	require.Empty(t, set.Spec.Template.Spec.PriorityClassName)
}

// A person deletes an image that is needed: it stays, says why, and goes once nothing needs it.
func TestADeletedImageStaysWhileItIsNeeded(t *testing.T) {
	w := newWorld(t, "held-1", "held-2").start(cut.Point{})
	w.set(setting.DefaultEngineImage, image)
	i := w.deployed()
	held := func(reason string) {
		t.Helper()
		w.eventually(func() bool {
			i, found := w.image()
			return found && conditions.Reason(i.Status.Conditions, v1beta2.EngineImageRemoved) == reason
		}, reason)
		set, found := get(w, daemonSet, &appsv1.DaemonSet{})
		require.True(t, found)
		require.Nil(t, set.DeletionTimestamp)
	}
	require.NoError(t, w.admin.Delete(t.Context(), i))
	held(v1beta2.ReasonIsDefaultImage)
	r := &v1beta2.Replica{ObjectMeta: w.named("vol-r-1")}
	r.Spec.VolumeName, r.Spec.DataEngine, r.Spec.Image = "vol", v1beta2.DataEngineV1, image
	w.create(r)
	w.eventually(func() bool { i, _ := w.image(); return i.Status.RefCount == 2 }, "the replica, and its volume")
	w.set(setting.DefaultEngineImage, other)
	held(v1beta2.ReasonReferenced)
	require.NoError(t, w.admin.Delete(t.Context(), r))
	w.gone()
}

// A Volume that names an image before any Engine does keeps it: Volumes are read before an image goes.
func TestAnImageThatOnlyAVolumeNamesStays(t *testing.T) {
	w := newWorld(t, "volume-1", "volume-2").start(cut.Point{})
	w.set(setting.DefaultEngineImage, image)
	w.deployed()
	v := &v1beta2.Volume{ObjectMeta: w.named("vol"), Spec: v1beta2.VolumeSpec{DataEngine: v1beta2.DataEngineV1, Image: image, Size: 1 << 20}}
	w.create(v)
	w.set(setting.DefaultEngineImage, other)
	w.eventually(func() bool { _, found := get(w, v1beta2.EngineImageName(other), &v1beta2.EngineImage{}); return found }, "the other image")
	w.unusedFor(2 * time.Hour)
	w.eventually(func() bool { i, _ := w.image(); return i.Status.RefCount == 1 && i.Status.NoRefSince == "" }, "the volume counts")
	i, found := w.image()
	require.True(t, found)
	require.Nil(t, i.DeletionTimestamp)
}

// Settings of the pods are applied while no process of the image runs, since a new pod takes the binary away for a moment.
func TestChangedSettingsWaitForTheEndOfTheProcesses(t *testing.T) {
	w := newWorld(t, "rest-1", "rest-2").start(cut.Point{})
	r := &v1beta2.Replica{ObjectMeta: w.named("vol-r-1")}
	r.Spec.VolumeName, r.Spec.DataEngine, r.Spec.Image, r.Spec.DesireState = "vol", v1beta2.DataEngineV1, image, v1beta2.InstanceStateRunning
	w.create(r)
	w.set(setting.DefaultEngineImage, image)
	w.deployed()
	w.set(setting.PriorityClass, "system-node-critical")
	w.eventually(func() bool {
		i, _ := w.image()
		ready := conditions.Get(i.Status.Conditions, v1beta2.EngineImageReady)
		return ready != nil && strings.Contains(ready.Message, "once no process of the image runs")
	}, "the wait is reported")
	set, _ := get(w, daemonSet, &appsv1.DaemonSet{})
	require.Empty(t, set.Spec.Template.Spec.PriorityClassName)
	require.NoError(t, w.admin.Delete(t.Context(), r))
	w.eventually(func() bool {
		set, _ := get(w, daemonSet, &appsv1.DaemonSet{})
		return set.Spec.Template.Spec.PriorityClassName == "system-node-critical"
	}, "the class")
}
