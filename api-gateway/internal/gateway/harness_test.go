package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/shell"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

const account = "api-gateway"

// env is a namespace of a real API server with one process of the gateway, as its ServiceAccount with its generated roles. The test plays
// the controllers.
type env struct {
	t         *testing.T
	namespace string
	admin     client.WithWatch
	options   Options
	refusal   func() error
	log       logr.Logger
	cache     *lagging
	wrap      func(client.Client) client.Client
	process   *shell.Process
	server    *server
	base      string
}

func newEnv(t *testing.T, change ...func(*env)) *env {
	t.Helper()
	e := &env{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t), options: DefaultOptions(), log: logr.Discard()}
	e.options.Address = freeAddress(t)
	for _, c := range change {
		c(e)
	}
	e.start()
	return e
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	return listener.Addr().String()
}

func (e *env) start() {
	e.t.Helper()
	identity := testkit.BinaryIdentity(e.t, e.namespace, account)
	e.process = shell.Start(e.t, shell.Options{Identity: identity, Namespace: e.namespace, Owner: account, Cache: Cached(), Wrap: e.wrap},
		func(ctx context.Context, rt *runkit.Runtime) error {
			rt.WhyNotWrite, rt.Log = e.refusal, e.log
			e.server = newServer(rt, e.options)
			e.cache = &lagging{Reader: e.server.reader.cache, held: map[string]client.Object{}}
			e.server.reader.cache = e.cache
			return e.server.setUp(ctx, rt, prometheus.NewRegistry())
		})
	e.t.Cleanup(func() {
		e.process.Stop()
		require.NoError(e.t, e.process.Wait())
	})
	e.base = "http://" + e.options.Address
	require.Eventually(e.t, func() bool {
		request, err := http.NewRequestWithContext(e.t.Context(), http.MethodGet, e.base+"/v1", nil)
		require.NoError(e.t, err)
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		return err == nil
	}, testkit.Timeout, 20*time.Millisecond)
}

func (e *env) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: e.namespace, Name: name}
}

func (e *env) create(obj client.Object) {
	e.t.Helper()
	require.NoError(e.t, e.admin.Create(e.t.Context(), obj))
}

func (e *env) status(obj client.Object, fields map[string]any) {
	e.t.Helper()
	require.NoError(e.t, status.MergeStatus(e.t.Context(), e.admin, obj, fields))
}

// send sends a request and returns status, body and header. A client that sends no body sends none.
func (e *env) send(method, path string, body any, header ...string) (int, []byte, http.Header) {
	e.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = bytes.NewBufferString(b)
	default:
		content, err := json.Marshal(b)
		require.NoError(e.t, err)
		reader = bytes.NewReader(content)
	}
	request, err := http.NewRequestWithContext(e.t.Context(), method, e.base+path, reader)
	require.NoError(e.t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(e.t, err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	require.NoError(e.t, err)
	return response.StatusCode, content, response.Header
}

// call sends a request that must succeed, and returns its answer.
func (e *env) call(method, path string, body any) map[string]any {
	e.t.Helper()
	code, content, _ := e.send(method, path, body)
	require.Equal(e.t, http.StatusOK, code, "%s %s: %s", method, path, content)
	out := map[string]any{}
	if len(content) > 0 {
		require.NoError(e.t, json.Unmarshal(content, &out), "%s", content)
	}
	return out
}

// refused sends a request that must fail with a status, and returns the sentence.
func (e *env) refused(want int, method, path string, body any) string {
	e.t.Helper()
	code, content, _ := e.send(method, path, body)
	require.Equal(e.t, want, code, "%s %s: %s", method, path, content)
	var answer struct{ Type, Message string }
	require.NoError(e.t, json.Unmarshal(content, &answer), "%s", content)
	require.Equal(e.t, "error", answer.Type)
	require.NotEmpty(e.t, answer.Message)
	return answer.Message
}

// eventually calls until the answer is as wanted, as the CSI plugin does.
func (e *env) eventually(path, wanted string, holds func(map[string]any) bool) map[string]any {
	e.t.Helper()
	var last map[string]any
	require.Eventually(e.t, func() bool {
		last = e.call(http.MethodGet, path, nil)
		return holds(last)
	}, testkit.Timeout, 20*time.Millisecond, "%s: want %s; it is %v", path, wanted, &last)
	return last
}

// attachedVolume creates a volume as attach-controller leaves it, once it is attached to a node.
func (e *env) attachedVolume(name, node string) *v1beta2.Volume {
	e.t.Helper()
	v := &v1beta2.Volume{ObjectMeta: e.meta(name), Spec: v1beta2.VolumeSpec{Size: 1 << 30, NumberOfReplicas: 1, Frontend: "blockdev",
		AccessMode: v1beta2.AccessModeReadWriteOnce, DataEngine: v1beta2.DataEngineV1, NodeID: node, BackupTargetName: "default"}}
	e.create(v)
	e.status(v, map[string]any{"state": v1beta2.VolumeStateAttached, "robustness": v1beta2.VolumeRobustnessHealthy, "currentNodeID": node})
	engine := &v1beta2.Engine{ObjectMeta: e.meta(name + "-e-0"), Spec: v1beta2.EngineSpec{VolumeName: name, NodeID: node, VolumeSize: 1 << 30,
		DataEngine: v1beta2.DataEngineV1, Active: true}}
	engine.Labels = map[string]string{v1beta2.LabelVolume: name}
	e.create(engine)
	e.status(engine, map[string]any{"currentState": "running", "endpoint": "/dev/longhorn/" + name, "currentSize": "1073741824",
		"ip": "10.0.0.1", "replicaModeMap": map[string]any{name + "-r-1": "RW"},
		"snapshots": map[string]any{"volume-head": map[string]any{"name": "volume-head", "parent": "s1", "size": "4096"},
			"s1": map[string]any{"name": "s1", "size": "8192", "usercreated": true, "children": map[string]any{"volume-head": true}}}})
	replica := &v1beta2.Replica{ObjectMeta: e.meta(name + "-r-1"), Spec: v1beta2.ReplicaSpec{VolumeName: name, NodeID: node, DiskID: "disk",
		DiskPath: "/data/", DataDirectoryName: name + "-1", VolumeSize: 1 << 30, DataEngine: v1beta2.DataEngineV1}}
	replica.Labels = map[string]string{v1beta2.LabelVolume: name}
	e.create(replica)
	e.create(&v1beta2.VolumeAttachment{ObjectMeta: e.meta(name), Spec: v1beta2.VolumeAttachmentSpec{Volume: name}})
	return v
}

// user creates what makes a pod use a volume: a PersistentVolume, bound to the claim of a pod.
func (e *env) user(volume, pod string, phase corev1.PodPhase) {
	e.t.Helper()
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + e.namespace + "-" + volume},
		Spec: corev1.PersistentVolumeSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			ClaimRef: &corev1.ObjectReference{Namespace: e.namespace, Name: "claim-" + volume},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: v1beta2.CSIDriver,
				VolumeHandle: volume}}}}
	e.create(pv)
	pv.Status.Phase = corev1.VolumeBound
	require.NoError(e.t, e.admin.Status().Update(e.t.Context(), pv))
	p := &corev1.Pod{ObjectMeta: e.meta(pod), Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: "image"}},
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim-" + volume}}}}}}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: "1", Controller: new(true)}}
	p.Spec.AutomountServiceAccountToken = new(false)
	e.create(p)
	if phase != corev1.PodPending {
		p.Status.Phase = phase
		require.NoError(e.t, e.admin.Status().Update(e.t.Context(), p))
	}
}
