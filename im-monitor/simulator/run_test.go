package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/rpc/common"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/spdkrpc"
	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
	"drover.dev/drover/im-monitor/simulator/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	soon = testkit.Timeout
	tick = 5 * time.Millisecond
)

// world is one running simulator on the test's API server.
type world struct {
	t         *testing.T
	admin     client.WithWatch
	control   *control.Client
	namespace string
	node      string
}

// newWorld runs a simulator with one node until the test ends.
func newWorld(t *testing.T, change func(*options)) *world {
	t.Helper()
	w := &world{t: t, admin: testkit.Admin(t), namespace: testkit.Namespace(t)}
	w.node = "n-" + w.namespace
	o := defaults()
	o.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, testkit.Cluster().AdminKubeconfig(o.kubeconfig))
	o.namespace, o.control, o.nodeNames, o.logLevel = w.namespace, "127.0.0.1:0", []string{w.node}, "warn"
	o.listCycle, o.diskCreateTime = 50*time.Millisecond, 0
	o.startTime, o.linger, o.heartbeat, o.statusPeriod, o.silence = 0, 0, 0, 0, 50*time.Millisecond
	if change != nil {
		change(o)
	}
	ctx, stop := context.WithCancel(context.Background())
	read, write := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, o, write) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
	line, err := bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err)
	w.control = &control.Client{URL: strings.TrimSpace(strings.TrimPrefix(line, "control "))}
	return w
}

func (w *world) do(method, path string, in, out any) {
	w.t.Helper()
	require.NoError(w.t, w.control.Do(w.t.Context(), method, path, in, out))
}

// pod makes an instance-manager pod and waits until it runs.
func (w *world) pod(engine string) *corev1.Pod {
	w.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "im-" + engine, Namespace: w.namespace, Labels: map[string]string{
		v1beta2.LabelComponent: v1beta2.ComponentInstanceManager, v1beta2.LabelManagedBy: v1beta2.ManagedByLonghornManager,
		v1beta2.LabelDataEngine: engine}},
		Spec: corev1.PodSpec{NodeName: w.node, RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "instance-manager", Image: "image"}}}}
	require.NoError(w.t, w.admin.Create(w.t.Context(), pod))
	return w.podWhen(pod, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
}

// podWhen waits until a pod is as wanted.
func (w *world) podWhen(pod *corev1.Pod, as func(*corev1.Pod) bool) *corev1.Pod {
	w.t.Helper()
	out := &corev1.Pod{}
	require.Eventually(w.t, func() bool {
		return w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(pod), out) == nil && as(out)
	}, soon, tick)
	return out
}

func (w *world) gone(pod *corev1.Pod) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		return apierrors.IsNotFound(w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}))
	}, soon, tick)
}

// ready waits for a value of the node's Ready condition.
func (w *world) ready(want corev1.ConditionStatus) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		node := &corev1.Node{}
		if w.admin.Get(w.t.Context(), client.ObjectKey{Name: w.node}, node) != nil {
			return false
		}
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady {
				return c.Status == want
			}
		}
		return false
	}, soon, tick)
}

func (w *world) dial(pod *corev1.Pod, port string) *grpc.ClientConn {
	w.t.Helper()
	c, err := grpc.NewClient("passthrough:///"+net.JoinHostPort(pod.Status.PodIP, port),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, c.Close()) })
	return c
}

// watch opens the stream of notices of a pod, and returns it once the server knows it: a client cannot tell, and what changes before is not
// noticed.
func (w *world) watch(instances imrpc.InstanceServiceClient) grpc.ServerStreamingClient[emptypb.Empty] {
	w.t.Helper()
	stream, err := instances.InstanceWatch(w.t.Context(), &emptypb.Empty{})
	require.NoError(w.t, err)
	require.Eventually(w.t, func() bool {
		var pods []machine.Pod
		return w.control.Do(w.t.Context(), "GET", "/v1/pods", nil, &pods) == nil && len(pods) == 1 && pods[0].Watchers == 1
	}, soon, tick)
	return stream
}

// names are the instances that a pod's server lists.
func names(t *testing.T, c imrpc.InstanceServiceClient) []string {
	t.Helper()
	list, err := c.InstanceList(t.Context(), &emptypb.Empty{})
	require.NoError(t, err)
	out := []string{}
	for name := range list.Instances {
		out = append(out, name)
	}
	return out
}

func TestAPodRunsSoonAndServesTheInstanceManagerAPI(t *testing.T) {
	w := newWorld(t, nil)
	w.ready(corev1.ConditionTrue)
	began := time.Now()
	pod := w.pod(dataplane.V1)
	t.Logf("the pod runs %s after it was asked for", time.Since(began).Round(time.Millisecond))
	require.NotEmpty(t, pod.Status.PodIP)
	require.NotNil(t, pod.Status.ContainerStatuses[0].State.Running)
	instances := imrpc.NewInstanceServiceClient(w.dial(pod, "8503"))
	version, err := instances.VersionGet(t.Context(), &emptypb.Empty{})
	require.NoError(t, err)
	require.Equal(t, int64(7), version.InstanceManagerAPIVersion)
	stream := w.watch(instances)
	require.Empty(t, names(t, instances))
	var put control.PutAnswer
	w.do("POST", "/v1/instances", control.PutRequest{Instances: []control.Put{{Node: w.node,
		Spec: dataplane.Spec{Name: "vol-r-1", Type: "replica"}}}}, &put)
	_, err = stream.Recv()
	require.NoError(t, err)
	require.Equal(t, []string{"vol-r-1"}, names(t, instances))
	_, err = instances.InstanceDelete(t.Context(), &imrpc.InstanceDeleteRequest{Name: "vol-r-1", Type: "replica", Uuid: "forged"})
	require.Equal(t, codes.NotFound, status.Code(err))
	answer, err := instances.InstanceDelete(t.Context(),
		&imrpc.InstanceDeleteRequest{Name: "vol-r-1", Type: "replica", Uuid: put.Instances[0].UUID})
	require.NoError(t, err)
	require.True(t, answer.Deleted)
	var journal []dataplane.Entry
	w.do("GET", "/v1/journal?source=wire&method=InstanceDelete", nil, &journal)
	require.Len(t, journal, 2)
	require.Equal(t, []string{"NotFound", "OK"}, []string{journal[0].Result, journal[1].Result})
	require.Equal(t, dataplane.EffectStopped, journal[1].Effect)
}

// P7: what a server logs can be set and read, and the service of v1 processes reports its version at the port that it always had.
func TestAServerTellsWhatItLogsAndItsVersionAtTheOldPort(t *testing.T) {
	w := newWorld(t, nil)
	pod := w.pod(dataplane.V1)
	instances := imrpc.NewInstanceServiceClient(w.dial(pod, "8503"))
	_, err := instances.LogSetLevel(t.Context(), &imrpc.LogSetLevelRequest{Level: "debug"})
	require.NoError(t, err)
	_, err = instances.LogSetFlags(t.Context(), &imrpc.LogSetFlagsRequest{Flags: "nvmf"})
	require.NoError(t, err)
	level, err := instances.LogGetLevel(t.Context(), &imrpc.LogGetLevelRequest{})
	require.NoError(t, err)
	flags, err := instances.LogGetFlags(t.Context(), &imrpc.LogGetFlagsRequest{})
	require.NoError(t, err)
	require.Equal(t, []string{"debug", ""}, []string{level.GetLevel(), flags.GetFlags()}, "data engine v1 has no flags")
	version, err := common.NewProcessManagerServiceClient(w.dial(pod, "8500")).VersionGet(t.Context(), &emptypb.Empty{})
	require.NoError(t, err)
	require.Equal(t, int64(7), version.InstanceManagerAPIVersion)
}

func TestADeletedPodIsRemovedAndV2DataOutlivesIt(t *testing.T) {
	w := newWorld(t, func(o *options) { o.server = "today" })
	pod := w.pod(dataplane.V2)
	w.do("POST", "/v1/instances", control.PutRequest{Instances: []control.Put{
		{Node: w.node, Spec: dataplane.Spec{Name: "r", Type: "replica", DataEngine: "v2"}},
		{Node: w.node, Spec: dataplane.Spec{Name: "e", Type: "engine", DataEngine: "v2"}}}}, nil)
	replicas, err := spdkrpc.NewSPDKServiceClient(w.dial(pod, "8504")).ReplicaList(t.Context(), &emptypb.Empty{})
	require.NoError(t, err)
	require.Empty(t, replicas.Replicas["r"].Uuid)
	require.NotEmpty(t, replicas.Replicas["r"].Head.Uuid)
	require.NoError(t, w.admin.Delete(t.Context(), pod))
	w.gone(pod)
	next := w.pod(dataplane.V2)
	require.NotEqual(t, pod.UID, next.UID)
	instances := imrpc.NewInstanceServiceClient(w.dial(next, "8503"))
	require.Empty(t, names(t, instances), "no disk was created in this run")
	var held []control.Held
	w.do("GET", "/v1/held?node="+w.node, nil, &held)
	w.createDisk(next, "disk-1", "/dev/disk-1", held[0].Devices[0].Lvstore.UUID)
	require.Eventually(t, func() bool { return len(names(t, instances)) == 1 }, soon, tick)
	list, err := instances.InstanceList(t.Context(), &emptypb.Empty{})
	require.NoError(t, err)
	require.Equal(t, "stopped", list.Instances["r"].Status.State)
	require.Empty(t, list.Instances["r"].Status.Uuid)
}

func TestANodeThatIsCutOffKeepsItsInstancesAndItsStreams(t *testing.T) {
	w := newWorld(t, nil)
	pod := w.pod(dataplane.V1)
	instances := imrpc.NewInstanceServiceClient(w.dial(pod, "8503"))
	stream := w.watch(instances)
	require.Empty(t, names(t, instances))
	w.do("POST", "/v1/nodes/"+w.node+"/state", control.SetNode{State: machine.Cut}, nil)
	w.ready(corev1.ConditionUnknown)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := instances.InstanceList(ctx, &emptypb.Empty{})
	require.Equal(t, codes.DeadlineExceeded, status.Code(err))
	w.do("POST", "/v1/instances", control.PutRequest{Instances: []control.Put{{Node: w.node,
		Spec: dataplane.Spec{Name: "r", Type: "replica"}}}}, nil)
	w.do("POST", "/v1/nodes/"+w.node+"/state", control.SetNode{State: machine.Up}, nil)
	w.ready(corev1.ConditionTrue)
	_, err = stream.Recv()
	require.NoError(t, err, "the stream survived")
	require.Equal(t, []string{"r"}, names(t, instances))
}

func TestAKilledNodeComesBackWithItsPodFailed(t *testing.T) {
	w := newWorld(t, nil)
	pod := w.pod(dataplane.V1)
	w.do("POST", "/v1/nodes/"+w.node+"/state", control.SetNode{State: machine.Dead}, nil)
	w.ready(corev1.ConditionUnknown)
	w.do("POST", "/v1/nodes/"+w.node+"/state", control.SetNode{State: machine.Up}, nil)
	w.podWhen(pod, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
}

func TestARestartedContainerIsAnotherRunAtTheSameAddress(t *testing.T) {
	w := newWorld(t, nil)
	pod := w.pod(dataplane.V1)
	instances := imrpc.NewInstanceServiceClient(w.dial(pod, "8503"))
	stream := w.watch(instances)
	w.do("POST", "/v1/pods/"+w.node+":v1/restart", control.Restart{}, nil)
	_, err := stream.Recv()
	require.Equal(t, codes.Unavailable, status.Code(err))
	again := w.podWhen(pod, func(p *corev1.Pod) bool {
		return p.Status.ContainerStatuses[0].ContainerID != pod.Status.ContainerStatuses[0].ContainerID
	})
	require.Equal(t, pod.Status.PodIP, again.Status.PodIP)
	require.Equal(t, int32(1), again.Status.ContainerStatuses[0].RestartCount)
}

func TestFaultsSpoilCallsUntilTheyAreCleared(t *testing.T) {
	w := newWorld(t, nil)
	instances := imrpc.NewInstanceServiceClient(w.dial(w.pod(dataplane.V1), "8503"))
	list := func() error { _, err := instances.InstanceList(t.Context(), &emptypb.Empty{}); return err }
	require.NoError(t, list())
	w.do("POST", "/v1/faults", fault.Rule{Kind: fault.Error, Method: "InstanceList", Code: "Internal", Times: 1}, nil)
	require.Equal(t, codes.Internal, status.Code(list()))
	require.NoError(t, list())
	w.do("POST", "/v1/faults", fault.Rule{Kind: fault.Partition, Node: w.node}, nil)
	require.Eventually(t, func() bool { return status.Code(list()) == codes.Unavailable }, soon, tick)
	w.do("DELETE", "/v1/faults", nil, nil)
	require.Eventually(t, func() bool { return list() == nil }, soon, tick)
	require.Error(t, w.control.Do(t.Context(), "POST", "/v1/faults", fault.Rule{Kind: "flood"}, nil), "an unknown fault is refused")
}

func TestV1DisksOfALonghornNodeAreFilledIn(t *testing.T) {
	w := newWorld(t, nil)
	node := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: w.node, Namespace: w.namespace},
		Spec: v1beta2.NodeSpec{Disks: map[string]v1beta2.DiskSpec{
			"files": {DiskType: "filesystem", Path: "/var/lib/longhorn"}, "raw": {DiskType: "block", Path: "/dev/sdb"}}}}
	require.NoError(t, w.admin.Create(t.Context(), node))
	require.Eventually(t, func() bool {
		return w.admin.Get(t.Context(), client.ObjectKeyFromObject(node), node) == nil && node.Status.DiskStatus["files"].DiskUUID != ""
	}, soon, tick)
	require.NotContains(t, node.Status.DiskStatus, "raw")
	_, err := imrpc.NewDiskServiceClient(w.dial(w.pod(dataplane.V2), "8502")).DiskGet(t.Context(),
		&imrpc.DiskGetRequest{DiskName: "raw", DiskType: imrpc.DiskType_block})
	require.Equal(t, codes.Internal, status.Code(err), "no one created it")
	require.ErrorContains(t, err, "cannot find disk raw")
}

// createDisk has a pod's server load a disk, and waits until it is ready.
func (w *world) createDisk(pod *corev1.Pod, name, path, uuid string) *imrpc.Disk {
	w.t.Helper()
	disks := imrpc.NewDiskServiceClient(w.dial(pod, "8502"))
	_, err := disks.DiskCreate(w.t.Context(), &imrpc.DiskCreateRequest{DiskType: imrpc.DiskType_block, DiskName: name, DiskUuid: uuid,
		DiskPath:  path,
		BlockSize: 512, DiskDriver: "aio"})
	require.NoError(w.t, err)
	disk, err := disks.DiskGet(w.t.Context(), &imrpc.DiskGetRequest{DiskType: imrpc.DiskType_block, DiskName: name, DiskPath: path,
		DiskDriver: "aio"})
	require.NoError(w.t, err)
	require.Equal(w.t, dataplane.DiskReady, disk.State)
	return disk
}

func TestTheCallsOfAServerWaitForADiskThatIsCreated(t *testing.T) {
	w := newWorld(t, func(o *options) { o.listCycle, o.diskCreateTime = 100*time.Millisecond, 2*time.Second })
	w.do("POST", "/v1/devices", dataplane.Device{Node: w.node, Path: "/dev/sdb"}, nil)
	pod := w.pod(dataplane.V2)
	instances, disks := imrpc.NewInstanceServiceClient(w.dial(pod, "8503")), imrpc.NewDiskServiceClient(w.dial(pod, "8502"))
	answer, err := disks.DiskCreate(t.Context(),
		&imrpc.DiskCreateRequest{DiskType: imrpc.DiskType_block, DiskName: "fast", DiskPath: "/dev/sdb", BlockSize: 512,
			DiskDriver: "aio"})
	require.NoError(t, err)
	require.Equal(t, dataplane.DiskCreating, answer.State)
	require.Empty(t, answer.Uuid)
	list := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := instances.InstanceList(ctx, &emptypb.Empty{})
		return err
	}
	require.Eventually(t, func() bool { return status.Code(list()) == codes.DeadlineExceeded }, soon, tick)
	disk, err := disks.DiskGet(t.Context(), &imrpc.DiskGetRequest{DiskType: imrpc.DiskType_block, DiskName: "fast", DiskDriver: "aio"})
	require.NoError(t, err, "it waited for the end")
	require.Equal(t, dataplane.DiskReady, disk.State)
	require.NoError(t, list())
}

func TestWithoutAUsableCertificateThereIsNoServer(t *testing.T) {
	o := defaults()
	o.control, o.tlsDirectory, o.kubeconfig = "127.0.0.1:0", t.TempDir(), filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, testkit.Cluster().AdminKubeconfig(o.kubeconfig))
	require.ErrorIs(t, run(t.Context(), o, io.Discard), os.ErrNotExist)
}
