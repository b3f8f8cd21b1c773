package csicontroller

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cluster"
	"drover.dev/drover/shared/testkit/cut"
)

const account = "attach-controller"

// The real kube-controller-manager runs with what attaches volumes for pods, and without what judges nodes that have no
// kubelet.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	testkit.Main(m, testkit.WithClusterOptions(cluster.Options{
		ControllerManager: true,
		ControllerManagerFlags: []string{"--controllers=serviceaccount-controller,persistentvolume-binder-controller," +
			"persistentvolume-protection-controller,persistentvolumeclaim-protection-controller,persistentvolume-attach-detach-controller"},
	}))
}

// world is a namespace of a real API server with this part of attach-controller in it, as its own ServiceAccount with the
// rights of its markers. The test plays what serves tickets. Objects without a namespace are named after the world.
type world struct {
	t                       *testing.T
	namespace               string
	admin                   client.Client
	identity                *rest.Config
	node, pv, vol, attached string

	mutex   sync.Mutex
	running []*process
}

// process is one run of the controller.
type process struct {
	client   *cut.Client
	registry *prometheus.Registry
	stop     context.CancelFunc
	done     chan error
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t)}
	w.node, w.pv, w.vol, w.attached = w.namespace+"-n", w.namespace+"-pv", "vol-1", "csi-"+w.namespace
	namespaced, clusterWide := markedRules(t)
	w.identity = testkit.Identity(t, w.namespace, account, namespaced)
	testkit.GrantCluster(t, w.namespace, account, clusterWide)
	w.create(&coordinationv1.Lease{ObjectMeta: w.meta(LeaseName)})
	t.Cleanup(w.stop)
	return w
}

// markedRules reads what the markers of this package and of package runkit ask for, so that a right that is missing
// there fails here.
func markedRules(t *testing.T) (namespaced, clusterWide []rbacv1.PolicyRule) {
	t.Helper()
	for _, path := range []string{"rbac.go", filepath.Join("..", "..", "..", "shared", "runkit", "rbac.go")} {
		file, err := os.Open(path)
		require.NoError(t, err)
		for lines := bufio.NewScanner(file); lines.Scan(); {
			_, marker, ok := strings.Cut(lines.Text(), "+kubebuilder:rbac:")
			if !ok {
				continue
			}
			fields := map[string][]string{}
			for _, field := range strings.Split(marker, ",") {
				name, values, _ := strings.Cut(field, "=")
				fields[name] = strings.Split(strings.Trim(values, `"`), ";")
			}
			rule := rbacv1.PolicyRule{APIGroups: fields["groups"], Resources: fields["resources"], ResourceNames: fields["resourceNames"], Verbs: fields["verbs"]}
			if fields["namespace"] == nil {
				clusterWide = append(clusterWide, rule)
			} else {
				namespaced = append(namespaced, rule)
			}
		}
		require.NoError(t, file.Close())
	}
	require.NotEmpty(t, namespaced)
	require.NotEmpty(t, clusterWide)
	return namespaced, clusterWide
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

// quick is a lease that changes hands fast.
func quick() Options {
	return Options{Attach: true, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 100 * time.Millisecond}
}

// start runs the controller until it is stopped.
func (w *world) start() *process { return w.startCut(cut.Point{}, nil) }

// startCut runs the controller until it is stopped, or cut.
func (w *world) startCut(at cut.Point, onCut func()) *process {
	w.t.Helper()
	scheme, err := runkit.Scheme()
	require.NoError(w.t, err)
	manager, err := ctrl.NewManager(w.identity, ctrl.Options{
		Scheme: scheme,
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{w.namespace: {}},
			DefaultTransform:  cache.TransformStripManagedFields(),
			ByObject:          Cache(),
		},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{registry: prometheus.NewRegistry(), stop: cancel, done: make(chan error, 1)}
	p.client = cut.New(manager.GetClient(), at, func() {
		cancel()
		if onCut != nil {
			onCut()
		}
	})
	require.NoError(w.t, Setup(ctx, &runkit.Runtime{
		Manager: manager, Client: only{p.client, w}, Uncached: manager.GetAPIReader(), Recorder: manager.GetEventRecorder(account),
		Namespace: w.namespace, Clock: clock.RealClock{}, Log: logr.Discard(),
	}, quick(), p.registry))
	go func() { p.done <- manager.Start(ctx) }()
	w.mutex.Lock()
	w.running = append(w.running, p)
	w.mutex.Unlock()
	return p
}

func (w *world) stop() {
	w.mutex.Lock()
	running := w.running
	w.running = nil
	w.mutex.Unlock()
	for _, p := range running {
		p.stop()
		<-p.done
	}
}

func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	for _, obj := range objects {
		require.NoError(w.t, w.admin.Create(w.t.Context(), obj))
	}
}

// cluster makes what Kubernetes has before a pod comes: a node with the driver on it, and a PersistentVolume.
func (w *world) cluster() {
	w.t.Helper()
	w.create(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.node, Annotations: map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"}}},
		&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: w.node}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: csi.Driver, NodeID: w.node}}}},
		w.persistentVolume(),
	)
}

func (w *world) persistentVolume() *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: w.pv}}
	pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	pv.Spec.StorageClassName = "longhorn"
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: csi.Driver, VolumeHandle: w.vol, FSType: "ext4"}
	return pv
}

// longhorn makes what Longhorn has: the node, and the volume with its VolumeAttachment.
func (w *world) longhorn() {
	w.t.Helper()
	w.create(
		&v1beta2.Node{ObjectMeta: w.meta(w.node)},
		&v1beta2.Volume{ObjectMeta: w.meta(w.vol), Spec: v1beta2.VolumeSpec{Size: 1 << 30}},
		&v1beta2.VolumeAttachment{ObjectMeta: w.meta(w.vol), Spec: v1beta2.VolumeAttachmentSpec{Volume: w.vol}},
	)
	w.nodeReady(v1beta2.ConditionTrue, v1beta2.ReasonNodeReady)
	w.volumeStatus(map[string]any{"state": v1beta2.VolumeStateDetached})
}

func (w *world) nodeReady(s v1beta2.ConditionStatus, reason string) {
	w.t.Helper()
	conditions := status.ConditionsField([]v1beta2.Condition{{Type: v1beta2.NodeReady, Status: s, Reason: reason}})
	require.NoError(w.t, status.Apply(w.t.Context(), w.admin, &v1beta2.Node{ObjectMeta: w.meta(w.node)}, "im-monitor", map[string]any{"conditions": conditions}))
}

func (w *world) volumeStatus(fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, &v1beta2.Volume{ObjectMeta: w.meta(w.vol)}, fields))
}

// asks makes a VolumeAttachment as the attach-detach controller does.
func (w *world) asks() *storagev1.VolumeAttachment {
	w.t.Helper()
	va := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: w.attached}}
	va.Spec = storagev1.VolumeAttachmentSpec{Attacher: csi.Driver, NodeName: w.node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &w.pv}}
	w.create(va)
	return va
}

func (w *world) remove(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Delete(w.t.Context(), obj))
}

// serve plays the decision on tickets and the volume's machine: the ticket is there, so the volume comes.
func (w *world) serve(id string) {
	w.t.Helper()
	ticket := w.ticket(id)
	volume := &v1beta2.Volume{ObjectMeta: w.meta(w.vol)}
	require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, volume, map[string]any{"nodeID": ticket.NodeID}))
	w.volumeStatus(map[string]any{"state": v1beta2.VolumeStateAttaching})
	w.volumeStatus(map[string]any{"state": v1beta2.VolumeStateAttached, "currentNodeID": ticket.NodeID})
	w.answer(id, true, v1beta2.ReasonSatisfied, "Attached.")
}

func (w *world) answer(id string, satisfied bool, reason, message string) {
	w.t.Helper()
	ticket := w.ticket(id)
	answer := map[string]any{
		"id": id, "satisfied": satisfied, "generation": ticket.Generation,
		"conditions": status.ConditionsField([]v1beta2.Condition{{Type: v1beta2.TicketSatisfied, Status: v1beta2.ConditionFalse, Reason: reason, Message: message}}),
	}
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, w.lhva(), map[string]any{"attachmentTicketStatuses": map[string]any{id: answer}}))
}

// vacate plays the same after the ticket has gone.
func (w *world) vacate(id string) {
	w.t.Helper()
	w.noTicket(id)
	volume := &v1beta2.Volume{ObjectMeta: w.meta(w.vol)}
	require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, volume, map[string]any{"nodeID": ""}))
	w.volumeStatus(map[string]any{"state": v1beta2.VolumeStateDetaching})
	w.volumeStatus(map[string]any{"state": v1beta2.VolumeStateDetached, "currentNodeID": ""})
}

func (w *world) lhva() *v1beta2.VolumeAttachment {
	return &v1beta2.VolumeAttachment{ObjectMeta: w.meta(w.vol)}
}

// ticket waits for the ticket.
func (w *world) ticket(id string) v1beta2.AttachmentTicket {
	w.t.Helper()
	return testkit.WaitFor(w.t, w.admin, w.lhva(), "ticket "+id, func(va *v1beta2.VolumeAttachment) bool {
		_, ok := va.Spec.AttachmentTickets[id]
		return ok
	}).Spec.AttachmentTickets[id]
}

func (w *world) noTicket(id string) {
	w.t.Helper()
	testkit.WaitFor(w.t, w.admin, w.lhva(), "no ticket "+id, func(va *v1beta2.VolumeAttachment) bool {
		_, ok := va.Spec.AttachmentTickets[id]
		return !ok
	})
}

func (w *world) reaches(va *storagev1.VolumeAttachment, wanted string, holds func(*storagev1.VolumeAttachment) bool) *storagev1.VolumeAttachment {
	w.t.Helper()
	return testkit.WaitFor(w.t, w.admin, va, wanted, holds)
}

func isAttached(va *storagev1.VolumeAttachment) bool { return va.Status.Attached }

func (w *world) attachError(va *storagev1.VolumeAttachment, word string) *storagev1.VolumeAttachment {
	w.t.Helper()
	return w.reaches(va, "attachError with "+word, func(va *storagev1.VolumeAttachment) bool {
		return va.Status.AttachError != nil && strings.Contains(va.Status.AttachError.Message, word)
	})
}

func (w *world) detachError(va *storagev1.VolumeAttachment, word string) {
	w.t.Helper()
	w.reaches(va, "detachError with "+word, func(va *storagev1.VolumeAttachment) bool {
		return va.Status.DetachError != nil && strings.Contains(va.Status.DetachError.Message, word)
	})
}

// only hides the VolumeAttachments and PersistentVolumes of other tests, which have no namespace either and run at the
// same time: to each world, its own are all that there are.
type only struct {
	client.Client
	world *world
}

// Get implements client.Reader.
func (o only) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if err := o.Client.Get(ctx, key, obj, opts...); err != nil {
		return err
	}
	place := o.world.namespace
	switch obj := obj.(type) {
	case *storagev1.VolumeAttachment:
		place = obj.Spec.NodeName
	case *corev1.PersistentVolume:
		place = obj.Name
	}
	if !strings.HasPrefix(place, o.world.namespace) {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "hidden"}, key.Name)
	}
	return nil
}
