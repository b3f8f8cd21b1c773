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

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/election"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cluster"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
)

const account = "attach-controller"

// The real kube-controller-manager runs with the controllers that attach volumes for pods, and without those that evict from nodes without
// a kubelet.
func TestMain(m *testing.M) {
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
	admin                   client.WithWatch
	identity                *rest.Config
	node, pv, vol, attached string

	mutex   sync.Mutex
	running []*process
}

// process is one run of the controller.
type process struct {
	*shell.Process
	registry *prometheus.Registry
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
			rule := rbacv1.PolicyRule{APIGroups: fields["groups"], Resources: fields["resources"], ResourceNames: fields["resourceNames"],
				Verbs: fields["verbs"]}
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

// quick is a lease that changes its holder fast.
func quick() Options {
	return Options{Attach: true, Lease: election.Lease{Name: LeaseName, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second,
		RetryPeriod: 100 * time.Millisecond}}
}

// start runs the controller until it is stopped.
func (w *world) start() *process { return w.startCut(cut.Point{}, nil) }

// startCut runs the controller until it is stopped, or cut.
func (w *world) startCut(at cut.Point, onCut func()) *process {
	w.t.Helper()
	p := &process{registry: prometheus.NewRegistry()}
	p.Process = shell.Start(w.t, shell.Options{
		Identity: w.identity, Namespace: w.namespace, Owner: account, Cache: Cache(), At: at, OnCut: onCut,
	}, func(ctx context.Context, rt *runkit.Runtime) error {
		rt.Client = only{rt.Client, w}
		return Setup(ctx, rt, quick(), p.registry)
	})
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
		p.Stop()
		<-p.Ended()
	}
}

func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	for _, obj := range objects {
		require.NoError(w.t, w.admin.Create(w.t.Context(), obj))
	}
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
