package podrecoverycontroller

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/attach-controller/internal/csicontroller"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

const (
	account  = "attach-controller"
	patience = 30 * time.Second
	poll     = testkit.Poll
	watched  = 2 * time.Second
	held     = "test/held"
)

// world is Longhorn's namespace on a real API server, with the controller in it as attach-controller's ServiceAccount with its generated
// roles and policies, and a namespace for pods. Objects without a namespace are named after the world. There is no attacher and no
// kubelet: the test simulates both.
type world struct {
	t               *testing.T
	namespace, pods string
	admin           client.WithWatch
	identity        *rest.Config
	wrap            func(client.Client) client.Client
	// ahead is the controller's clock before that of the API server.
	ahead time.Duration

	mutex   sync.Mutex
	running *shell.Process
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t)}
	w.pods = w.namespace + "-pods"
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.pods}})
	w.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.pods, Name: "default"}})
	w.backend(true)
	w.identity = testkit.BinaryIdentity(t, w.namespace, account)
	t.Cleanup(w.stop)
	return w
}

func (w *world) start() *shell.Process { return w.startCut(cut.Point{}, nil) }

func (w *world) startCut(at cut.Point, onCut func()) *shell.Process {
	w.t.Helper()
	kept := csicontroller.Cache()
	maps.Copy(kept, Cache())
	p := shell.Start(w.t, shell.Options{Identity: w.identity, Namespace: w.namespace, Owner: account, Cache: kept, Wrap: w.wrap, At: at,
		OnCut: onCut,
		Clock: skewed{ahead: w.ahead}},
		func(ctx context.Context, rt *runkit.Runtime) error {
			return Setup(ctx, rt, settingcontroller.NewSource(rt.Client, w.namespace, setting.Catalogue))
		})
	w.mutex.Lock()
	w.running = p
	w.mutex.Unlock()
	return p
}

// skewed is a clock that is ahead.
type skewed struct {
	clock.RealClock
	ahead time.Duration
}

// Now implements clock.PassiveClock.
func (s skewed) Now() time.Time { return s.RealClock.Now().Add(s.ahead) }

func (w *world) stop() {
	w.mutex.Lock()
	p := w.running
	w.running = nil
	w.mutex.Unlock()
	if p != nil {
		p.Stop()
		<-p.Ended()
	}
}

func (w *world) create(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), obj))
}

// name is that of an object without a namespace, and of a volume, which is short.
func (w *world) name(short string) string {
	return w.namespace[strings.LastIndex(w.namespace, "-")+1:] + "-" + short
}

func (w *world) set(name, value string) {
	w.t.Helper()
	w.create(&v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}, Value: value})
}

// volume creates a Longhorn volume of that name, and binds it to the claim of that name.
func (w *world) volume(name string) *v1beta2.Volume {
	w.t.Helper()
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name(name)},
		Spec: v1beta2.VolumeSpec{Size: 1 << 30, NumberOfReplicas: 1, DataEngine: v1beta2.DataEngineV1}}
	w.create(v)
	w.persistentVolume(name, csi.Driver)
	return v
}

func (w *world) persistentVolume(name, driver string) {
	w.t.Helper()
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: w.name(name)}, Spec: corev1.PersistentVolumeSpec{
		AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
		Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		ClaimRef:                      &corev1.ObjectReference{Namespace: w.pods, Name: name},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver,
			VolumeHandle: w.name(name)}},
	}}
	w.create(pv)
	w.status(pv, map[string]any{"phase": corev1.VolumeBound})
}

// backend lets the Service that the CSI plugin asks lead to a pod that is ready or not.
func (w *world) backend(ready bool) {
	w.t.Helper()
	slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: backend + "-1",
		Labels: map[string]string{discoveryv1.LabelServiceName: backend}}, AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}}}
	err := w.admin.Create(w.t.Context(), slice)
	if apierrors.IsAlreadyExists(err) {
		require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(slice), slice))
		slice.Endpoints[0].Conditions.Ready = &ready
		err = w.admin.Update(w.t.Context(), slice)
	}
	require.NoError(w.t, err)
}

func (w *world) status(obj client.Object, fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, obj, fields))
}

// pod creates a pod of that controller kind on the node that uses the claims, and that its kubelet accepted at that time; a pod without a
// kind has no controller.
func (w *world) pod(name, kind, node string, started time.Time, claims ...string) *corev1.Pod {
	w.t.Helper()
	yes, token, grace := true, false, int64(1)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.pods, Name: name}, Spec: corev1.PodSpec{
		NodeName: w.name(node), AutomountServiceAccountToken: &token, TerminationGracePeriodSeconds: &grace,
		Containers: []corev1.Container{{Name: "main", Image: "none"}},
	}}
	if kind != "" {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "owner", UID: "owner", Controller: &yes}}
	}
	for _, claim := range claims {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
	}
	w.create(pod)
	w.status(pod, map[string]any{"phase": corev1.PodRunning, "startTime": metav1.NewTime(started)})
	return pod
}

// detached is what the volume machine writes when a volume was detached under its users.
func (w *world) detached(v *v1beta2.Volume, at time.Time) {
	w.t.Helper()
	w.status(v, map[string]any{"remountRequestedAt": at.UTC().Format(time.RFC3339)})
}

// attached creates a VolumeAttachment of a PersistentVolume to the node, with a finalizer.
func (w *world) attached(volume, node, driver string) *storagev1.VolumeAttachment {
	w.t.Helper()
	source := w.name(volume)
	va := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: w.name(volume + "-on-" + node), Finalizers: []string{held}},
		Spec: storagev1.VolumeAttachmentSpec{Attacher: driver, NodeName: w.name(node),
			Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &source}}}
	w.create(va)
	return va
}

func (w *world) letGo(obj client.Object) {
	w.t.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	require.NoError(w.t, w.admin.Patch(w.t.Context(), obj, patch))
}

// node creates a Longhorn and a Kubernetes node.
func (w *world) node(name string, ready bool) {
	w.t.Helper()
	w.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.name(name)}})
	w.create(&v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name(name)}})
	w.turn(name, ready)
	w.host(name, ready)
}

// turn sets Longhorn's Node to ready or down.
func (w *world) turn(name string, ready bool) {
	w.t.Helper()
	c := v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonNodeReady}
	if !ready {
		c.Status, c.Reason = v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeNotReady
	}
	node := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name(name)}}
	w.status(node, map[string]any{"conditions": status.ConditionsField([]v1beta2.Condition{c})})
}

// host sets Kubernetes' node to ready, or to unknown without its kubelet.
func (w *world) host(name string, ready bool) {
	w.t.Helper()
	if ready {
		w.kubelet(name, corev1.ConditionTrue, time.Now())
		return
	}
	w.kubelet(name, corev1.ConditionUnknown, time.Now())
}

// kubelet lets Kubernetes' node be ready or not since then.
func (w *world) kubelet(name string, ready corev1.ConditionStatus, since time.Time) {
	w.t.Helper()
	c := corev1.NodeCondition{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.NewTime(since)}
	w.status(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.name(name)}}, map[string]any{"conditions": []corev1.NodeCondition{c}})
}

// end asks for the pod's end, as its controller or Kubernetes does.
func (w *world) end(pod *corev1.Pod) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Delete(w.t.Context(), pod.DeepCopy()))
}

// leaving waits until an object is being deleted.
func leaving[T client.Object](w *world, obj T) T {
	w.t.Helper()
	return testkit.WaitFor(w.t, w.admin, obj, "to be deleted", func(o T) bool { return o.GetDeletionTimestamp() != nil })
}

// stays watches for a while that none of the objects is deleted.
func (w *world) stays(objects ...client.Object) {
	w.t.Helper()
	require.Never(w.t, func() bool {
		for _, obj := range objects {
			now := obj.DeepCopyObject().(client.Object)
			err := w.admin.Get(context.Background(), client.ObjectKeyFromObject(obj), now)
			if apierrors.IsNotFound(err) || err == nil && now.GetDeletionTimestamp() != nil && obj.GetDeletionTimestamp() == nil {
				return true
			}
		}
		return false
	}, watched, poll)
}

// said waits for an event about an object, and returns its note.
func (w *world) said(namespace, kind, name, reason string) (note string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		var list eventsv1.EventList
		require.NoError(w.t, w.admin.List(context.Background(), &list, client.InNamespace(namespace)))
		for _, e := range list.Items {
			if e.Regarding.Kind == kind && e.Regarding.Name == name && e.Reason == reason {
				note = e.Note
				return true
			}
		}
		return false
	}, patience, poll, "no event %s on %s %s", reason, kind, name)
	return note
}

// events counts the events about a Volume.
func (w *world) events(volume, reason string) int {
	w.t.Helper()
	var list eventsv1.EventList
	require.NoError(w.t, w.admin.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
	n := 0
	for _, e := range list.Items {
		if e.Regarding.Kind == "Volume" && e.Regarding.Name == volume && e.Reason == reason {
			n++
		}
	}
	return n
}
