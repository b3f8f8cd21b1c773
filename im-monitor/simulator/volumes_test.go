package main

import (
	"bytes"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
	"drover.dev/drover/shared/api/v1beta2"
)

// served is one attached volume on the wire.
type served struct {
	*world
	instances  imrpc.InstanceServiceClient
	proxy      imrpc.ProxyEngineServiceClient
	ip         string
	managerPod *corev1.Pod
	ref        *imrpc.ProxyEngineRequest
}

// attached attaches volume vol with one replica, as the contract reports that it is done.
func attached(t *testing.T, engine string) *served {
	t.Helper()
	w := newWorld(t, func(o *options) { o.copyTime = 0; o.backupStore = t.TempDir() })
	pod := w.pod(engine)
	s := &served{world: w, ip: pod.Status.PodIP, managerPod: pod, instances: imrpc.NewInstanceServiceClient(w.dial(pod, "8503")),
		proxy: imrpc.NewProxyEngineServiceClient(w.dial(pod, "8501"))}
	if engine == dataplane.V1 {
		w.podsOf(w.deploy("engine:1"), 1, true)
	}
	where := s.replica(engine, "vol-r-1")
	if engine == dataplane.V1 {
		e := s.create(&imrpc.InstanceSpec{Name: "vol-e-0", Type: "engine", VolumeName: "vol", PortCount: 1,
			PortArgs: []string{"--listen,:"},
			ProcessInstanceSpec: &imrpc.ProcessInstanceSpec{Binary: engineBinary,
				Args: []string{"--engine-instance-name", "vol-e-0", "controller", "vol",
					"--frontend", "tgt-blockdev", "--disableRevCounter", "--size", "1048576", "--current-size", "1048576",
					"--engine-replica-timeout", "8",
					"--file-sync-http-client-timeout", "30", "--snapshot-max-count", "250", "--snapshot-max-size", "0",
					"--rebuild-sync-concurrent-limit", "1",
					"--replica", "tcp://" + where}}})
		s.ref = &imrpc.ProxyEngineRequest{Address: s.at(e), EngineName: "vol-e-0", VolumeName: "vol"}
		return s
	}
	v2 := imrpc.DataEngine_DATA_ENGINE_V2
	e := s.create(&imrpc.InstanceSpec{Name: "vol-e-0", Type: "engine", VolumeName: "vol", PortCount: 1, DataEngine: v2,
		SpdkInstanceSpec: &imrpc.SpdkInstanceSpec{ReplicaAddressMap: map[string]string{"vol-r-1": where}, Size: 1 << 20,
			Frontend: "spdk-tcp-blockdev"}})
	s.create(&imrpc.InstanceSpec{Name: "vol-ef-0", Type: "engine-frontend", VolumeName: "vol", PortCount: 1, DataEngine: v2,
		EngineName:    "vol-e-0",
		TargetAddress: s.at(e), SpdkInstanceSpec: &imrpc.SpdkInstanceSpec{Frontend: "spdk-tcp-blockdev", Size: 1 << 20}})
	s.ref = &imrpc.ProxyEngineRequest{Address: s.at(e), EngineName: "vol-e-0", VolumeName: "vol", EngineFrontendName: "vol-ef-0",
		DataEngine: v2}
	return s
}

func (s *served) create(spec *imrpc.InstanceSpec) *imrpc.InstanceResponse {
	s.t.Helper()
	made, err := s.instances.InstanceCreate(s.t.Context(), &imrpc.InstanceCreateRequest{Spec: spec})
	require.NoError(s.t, err)
	require.Empty(s.t, made.Status.ErrorMsg)
	return made
}

// replica starts a replica of the volume and reports where it listens.
func (s *served) replica(engine, name string) string {
	s.t.Helper()
	spec := &imrpc.InstanceSpec{Name: name, Type: "replica", VolumeName: "vol", PortCount: 10, PortArgs: []string{"--listen,:"},
		ProcessInstanceSpec: &imrpc.ProcessInstanceSpec{Binary: engineBinary,
			Args: []string{"--volume-name", "vol", "replica", "/host/var/lib/longhorn/replicas/" + name,
				"--size", "1048576", "--disableRevCounter", "--replica-instance-name", name}}}
	if engine == dataplane.V2 {
		disk := s.createDisk(s.managerPod, "disk-1", "/dev/disk-1", "")
		spec.ProcessInstanceSpec, spec.PortArgs, spec.DataEngine = nil, nil, imrpc.DataEngine_DATA_ENGINE_V2
		spec.SpdkInstanceSpec = &imrpc.SpdkInstanceSpec{DiskName: disk.Name, DiskUuid: disk.Uuid, Size: 1 << 20}
	}
	return s.at(s.create(spec))
}

func (s *served) at(i *imrpc.InstanceResponse) string {
	return net.JoinHostPort(s.ip, strconv.Itoa(int(i.Status.PortStart)))
}

func (s *served) modes() map[string]ptypes.ReplicaMode {
	s.t.Helper()
	list, err := s.proxy.ReplicaList(s.t.Context(), s.ref)
	require.NoError(s.t, err)
	out := map[string]ptypes.ReplicaMode{}
	for _, r := range list.ReplicaList.Replicas {
		out[r.Address.InstanceName] = r.Mode
	}
	return out
}

func dataEngines(t *testing.T, f func(*testing.T, string)) {
	for _, engine := range []string{dataplane.V1, dataplane.V2} {
		t.Run(engine, func(t *testing.T) { f(t, engine) })
	}
}

func TestAVolumeIsWrittenRebuiltAndExpandedOnTheWire(t *testing.T) {
	dataEngines(t, func(t *testing.T, engine string) {
		s := attached(t, engine)
		ctx := t.Context()
		s.do("POST", "/v1/writers", control.StartWriter{Volume: "vol", Interval: fault.Duration(time.Millisecond)}, nil)
		s.do("POST", "/v1/volumes/vol/write", control.WriteBlock{Block: 100, Text: "by hand"}, nil)
		added := s.replica(engine, "vol-r-2")
		_, err := s.proxy.ReplicaAdd(ctx, &imrpc.EngineReplicaAddRequest{ProxyEngineRequest: s.ref, ReplicaName: "vol-r-2",
			ReplicaAddress: "tcp://" + added, Size: 1 << 20})
		require.NoError(t, err)
		rw := ptypes.ReplicaMode_RW
		require.Eventually(t, func() bool { return s.modes()["vol-r-2"] == rw }, soon, tick)
		rebuilds, err := s.proxy.ReplicaRebuildingStatus(ctx, s.ref)
		require.NoError(t, err)
		require.NotContains(t, rebuilds.Status, "tcp://"+added, "an engine asks only replicas in mode WO")
		_, err = s.proxy.ReplicaVerifyRebuild(ctx,
			&imrpc.EngineReplicaVerifyRebuildRequest{ProxyEngineRequest: s.ref, ReplicaAddress: "tcp://" + added})
		require.NoError(t, err)
		s.do("POST", "/v1/volumes/vol/fail", control.FailReplica{Replica: "vol-r-1"}, nil)
		require.Equal(t, map[string]ptypes.ReplicaMode{"vol-r-1": ptypes.ReplicaMode_ERR, "vol-r-2": rw}, s.modes())
		_, err = s.proxy.ReplicaRemove(ctx, &imrpc.EngineReplicaRemoveRequest{ProxyEngineRequest: s.ref, ReplicaName: "vol-r-1",
			ReplicaAddress: "tcp://" + s.addressOf("vol-r-1")})
		require.NoError(t, err)
		require.Equal(t, map[string]ptypes.ReplicaMode{"vol-r-2": rw}, s.modes())

		_, err = s.proxy.VolumeExpand(ctx, &imrpc.EngineVolumeExpandRequest{ProxyEngineRequest: s.ref,
			Expand: &ptypes.VolumeExpandRequest{Size: 2 << 20}})
		require.NoError(t, err)
		got, err := s.proxy.VolumeGet(ctx, s.ref)
		require.NoError(t, err)
		require.Equal(t, int64(2<<20), got.Volume.Size)
		require.Equal(t, "/dev/longhorn/vol", got.Volume.Endpoint)
		require.Equal(t, "up", got.Volume.FrontendState)

		var read control.ReadBlock
		s.do("GET", "/v1/volumes/vol/read?block=100", nil, &read)
		require.Equal(t, control.ReadBlock{Text: "by hand", Written: true}, read)
		var writers []control.Writer
		require.Eventually(t, func() bool {
			s.do("GET", "/v1/writers", nil, &writers)
			return writers[0].Writes > 0
		}, soon, tick)
		s.do("DELETE", "/v1/writers?volume=vol", nil, &writers)
		require.Zero(t, writers[0].Lost+writers[0].Doubled+writers[0].Misdirected+writers[0].Failed, writers[0].Errors)
		var verified dataplane.Verification
		s.do("GET", "/v1/volumes/vol/verify", nil, &verified)
		require.True(t, verified.OK, verified)
	})
}

// addressOf is where an instance listens.
func (s *served) addressOf(name string) string {
	s.t.Helper()
	var list []control.Instance
	s.do("GET", "/v1/instances?name="+name, nil, &list)
	return net.JoinHostPort(s.ip, strconv.Itoa(int(list[0].PortStart)))
}

func TestSnapshotsAndBackupsOnTheWire(t *testing.T) {
	dataEngines(t, func(t *testing.T, engine string) {
		s := attached(t, engine)
		ctx := t.Context()
		s.do("POST", "/v1/volumes/vol/write", control.WriteBlock{Block: 1, Text: "old"}, nil)
		snapshot := &imrpc.EngineVolumeSnapshotRequest{ProxyEngineRequest: s.ref, SnapshotVolume: &ptypes.VolumeSnapshotRequest{Name: "s"}}
		_, err := s.proxy.VolumeSnapshot(ctx, snapshot)
		require.NoError(t, err)
		_, err = s.proxy.VolumeSnapshot(ctx, snapshot)
		require.Equal(t, codes.Unknown, status.Code(err))
		list, err := s.proxy.SnapshotList(ctx, s.ref)
		require.NoError(t, err)
		require.Equal(t, map[string]bool{"volume-head": true}, list.Disks["s"].Children)
		_, err = s.proxy.SnapshotHash(ctx, &imrpc.EngineSnapshotHashRequest{ProxyEngineRequest: s.ref, SnapshotName: "s"})
		require.NoError(t, err)
		hash, err := s.proxy.SnapshotHashStatus(ctx, &imrpc.EngineSnapshotHashStatusRequest{ProxyEngineRequest: s.ref, SnapshotName: "s"})
		require.NoError(t, err)
		require.NotEmpty(t, hash.Status["tcp://"+s.addressOf("vol-r-1")].Checksum)

		begun, err := s.proxy.SnapshotBackup(ctx, &imrpc.EngineSnapshotBackupRequest{ProxyEngineRequest: s.ref, BackupName: "b",
			SnapshotName: "s", BackupTarget: "s3://bucket@region/"})
		require.NoError(t, err)
		require.Equal(t, engine == dataplane.V1, strings.HasPrefix(begun.Replica, "tcp://"), begun.Replica)
		backup, err := s.proxy.SnapshotBackupStatus(ctx,
			&imrpc.EngineSnapshotBackupStatusRequest{ProxyEngineRequest: s.ref, BackupName: "b", ReplicaAddress: begun.Replica})
		require.NoError(t, err)
		require.Equal(t, "s3://bucket@region/?backup=b&volume=vol", backup.BackupUrl)
		s.do("POST", "/v1/volumes/vol/write", control.WriteBlock{Block: 1, Text: "new"}, nil)
		if engine == dataplane.V1 {
			_, err = s.proxy.VolumeFrontendShutdown(ctx, s.ref)
			require.NoError(t, err)
		}
		none, err := s.proxy.BackupRestoreStatus(ctx, s.ref)
		require.NoError(t, err)
		require.Equal(t, engine == dataplane.V1, len(none.Status) > 0, "v1 lists replicas that restored nothing")
		refused, err := s.proxy.BackupRestore(ctx, &imrpc.EngineBackupRestoreRequest{ProxyEngineRequest: s.ref,
			Url: "s3://bucket@region/?backup=gone&volume=vol", VolumeName: "vol"})
		require.NoError(t, err, "it is answered with OK")
		require.Contains(t, string(refused.TaskError), "failed to read the backup")
		_, err = s.proxy.BackupRestore(ctx, &imrpc.EngineBackupRestoreRequest{ProxyEngineRequest: s.ref, Url: backup.BackupUrl,
			VolumeName: "vol"})
		require.NoError(t, err)
		restored, err := s.proxy.BackupRestoreStatus(ctx, s.ref)
		require.NoError(t, err)
		require.Equal(t, "b", restored.Status["tcp://"+s.addressOf("vol-r-1")].LastRestored)
		var volumes []dataplane.VolumeInfo
		s.do("GET", "/v1/volumes?name=vol", nil, &volumes)
		require.Equal(t, hash.Status["tcp://"+s.addressOf("vol-r-1")].Checksum, volumes[0].Checksum)
		_, err = s.proxy.SnapshotRemove(ctx, &imrpc.EngineSnapshotRemoveRequest{ProxyEngineRequest: s.ref, Names: []string{"nobody"}})
		require.Equal(t, engine == dataplane.V1, err == nil)
		_, err = s.proxy.SnapshotPurge(ctx, &imrpc.EngineSnapshotPurgeRequest{ProxyEngineRequest: s.ref})
		require.NoError(t, err)
		_, err = s.proxy.SnapshotPurgeStatus(ctx, s.ref)
		require.NoError(t, err)
	})
}

func TestWorkMayFailAfterItsCallWasAnsweredOK(t *testing.T) {
	s := attached(t, dataplane.V1)
	s.with(t, fault.Rule{Kind: fault.FailLater, Method: "VolumeExpand", Message: "no space left"})
	_, err := s.proxy.VolumeExpand(t.Context(), &imrpc.EngineVolumeExpandRequest{ProxyEngineRequest: s.ref,
		Expand: &ptypes.VolumeExpandRequest{Size: 2 << 20}})
	require.NoError(t, err)
	got, err := s.proxy.VolumeGet(t.Context(), s.ref)
	require.NoError(t, err)
	require.Empty(t, got.Volume.LastExpansionError, "no one is reported")
	require.False(t, got.Volume.IsExpanding)
	require.Equal(t, int64(1<<20), got.Volume.Size)
}

func TestALonghornNodeWithoutDisksGetsOnePerDataEngine(t *testing.T) {
	w := newWorld(t, nil)
	node := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: w.node, Namespace: w.namespace}}
	require.NoError(t, w.admin.Create(t.Context(), node))
	require.Eventually(t, func() bool {
		return w.admin.Get(t.Context(), client.ObjectKeyFromObject(node), node) == nil &&
			node.Status.DiskStatus["default-disk"].DiskUUID != ""
	}, soon, tick)
	require.Len(t, node.Spec.Disks, 2)
	require.True(t, node.Spec.Disks["disk-1"].AllowScheduling)
	disk := node.Status.DiskStatus["default-disk"]
	require.Equal(t, "/var/lib/longhorn/", disk.DiskPath)
	require.Equal(t, "filesystem", disk.DiskType)
	require.Positive(t, disk.StorageMaximum)
	require.Positive(t, disk.StorageAvailable)
	require.Len(t, disk.Conditions, 2)
}

func TestTheCommandLineOfVolumes(t *testing.T) {
	s := attached(t, dataplane.V1)
	t.Setenv(environment, strings.TrimPrefix(s.control.URL, "http://"))
	ctl := func(args ...string) (string, error) {
		cmd, out := command(), &bytes.Buffer{}
		cmd.SetOut(out)
		cmd.SetArgs(append([]string{"ctl"}, args...))
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	for _, step := range []struct {
		args []string
		says string
	}{
		{[]string{"volumes", "write", "vol", "1", "text"}, `"number": 1`},
		{[]string{"volumes", "read", "vol", "1"}, `"text": "text"`},
		{[]string{"volumes", "verify", "vol"}, `"ok": true`},
		{[]string{"volumes", "vol"}, `"stale": false`},
		{[]string{"copy-time", "hold", "--volume", "vol"}, ""},
		{[]string{"copy-time", "1s"}, ""},
		{[]string{"writers", "start", "vol", "--interval", "1ms"}, ""},
		{[]string{"writers"}, `"maxPause"`},
		{[]string{"writers", "stop", "vol"}, `"volume": "vol"`},
		{[]string{"volumes", "fail", "vol", "vol-r-1"}, ""},
		{[]string{"instances", "kill", s.node, "vol-e-0"}, `"state": "error"`},
	} {
		out, err := ctl(step.args...)
		require.NoError(t, err, step.args)
		require.Contains(t, out, step.says, step.args)
	}
	_, err := ctl("volumes", "write", "vol", "1", "text")
	require.ErrorContains(t, err, "no frontend", "the engine is dead")
}
