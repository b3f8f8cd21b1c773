package imclient

import (
	"context"
	"maps"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
)

// proxyPort is where imrpc.ProxyEngineService listens.
const proxyPort = 8501

// Target names one running engine.
type Target struct {
	// Address is the engine's own, ip:port; Engine and Volume its names; Frontend that of its engine-frontend, which v2 calls that change
	// something need.
	Address, Engine, Volume, Frontend, DataEngine string
}

// Proxy asks engines of one instance manager, over a connection of its own: what happens to it ends no watch.
type Proxy struct {
	address    string
	options    Options
	connection *grpc.ClientConn
	service    imrpc.ProxyEngineServiceClient
}

// Proxy connects to the proxy service at an address (without a port). It does not wait: the first call does. A lost transport is not made
// again.
func (d *Dialer) Proxy(address string) (*Proxy, error) {
	connection, err := d.open(address, proxyPort, &refusal{})
	if err != nil {
		return nil, err
	}
	return &Proxy{address: address, options: d.options, connection: connection, service: imrpc.NewProxyEngineServiceClient(connection)}, nil
}

// lossPause is how long after a call the loss of its transport may take to show.
const lossPause = 100 * time.Millisecond

// Lost reports, after a call that was not answered, whether its transport is lost. One that is there serves the calls about other engines:
// a server may wait for an engine for ever, or report that it cannot reach one. A peer that is dead does not answer the keepalive.
func (p *Proxy) Lost() bool {
	ctx, cancel := context.WithTimeout(context.Background(), lossPause)
	defer cancel()
	return p.connection.GetState() != connectivity.Ready || p.connection.WaitForStateChange(ctx, connectivity.Ready)
}

// Close ends the connection and every call on it.
func (p *Proxy) Close() error { return p.connection.Close() }

// EngineReplica is one replica as its engine sees it. Address is tcp://ip:port; Name may be empty.
type EngineReplica struct{ Name, Address, Mode string }

// EngineVolume is what an engine reports about its volume.
type EngineVolume struct {
	Size                         volumesize.Backend
	Endpoint                     string
	Expanding                    bool
	ExpansionError, ExpansionEnd string
	SnapshotMaxCount             int
	SnapshotMaxSize              int64
	UnmapMarkSnapChainRemoved    bool
}

// Replicas lists the engine's replicas with their modes.
func (p *Proxy) Replicas(ctx context.Context, t Target) ([]EngineReplica, error) {
	ctx, cancel := p.read(ctx)
	defer cancel()
	answer, err := p.service.ReplicaList(ctx, t.request())
	if err != nil {
		return nil, callError(ctx, "ReplicaList", p.address, err)
	}
	var out []EngineReplica
	for _, r := range answer.GetReplicaList().GetReplicas() {
		out = append(out, EngineReplica{Name: cut(r.GetAddress().GetInstanceName()), Address: WithScheme(cut(r.GetAddress().GetAddress())),
			Mode: r.GetMode().String()})
	}
	return out, nil
}

// Volume reports the volume's size and its operations in progress.
func (p *Proxy) Volume(ctx context.Context, t Target) (EngineVolume, error) {
	ctx, cancel := p.read(ctx)
	defer cancel()
	answer, err := p.service.VolumeGet(ctx, t.request())
	if err != nil {
		return EngineVolume{}, callError(ctx, "VolumeGet", p.address, err)
	}
	v := answer.GetVolume()
	return EngineVolume{
		Size: volumesize.Backend(v.GetSize()), Endpoint: cut(v.GetEndpoint()), Expanding: v.GetIsExpanding(),
		ExpansionError: inWords(v.GetLastExpansionError()),
		ExpansionEnd:   cut(v.GetLastExpansionFailedAt()), SnapshotMaxCount: int(v.GetSnapshotMaxCount()),
		SnapshotMaxSize:           v.GetSnapshotMaxSize(),
		UnmapMarkSnapChainRemoved: v.GetUnmapMarkSnapChainRemoved(),
	}, nil
}

// Snapshots lists the volume's snapshots by name, volume-head included.
func (p *Proxy) Snapshots(ctx context.Context, t Target) (map[string]v1beta2.SnapshotInfo, error) {
	ctx, cancel := p.read(ctx)
	defer cancel()
	answer, err := p.service.SnapshotList(ctx, t.request())
	if err != nil {
		return nil, callError(ctx, "SnapshotList", p.address, err)
	}
	out := make(map[string]v1beta2.SnapshotInfo, len(answer.GetDisks()))
	for name, d := range answer.GetDisks() {
		out[name] = v1beta2.SnapshotInfo{
			Name: d.GetName(), Parent: d.GetParent(), Children: maps.Clone(d.GetChildren()), Removed: d.GetRemoved(),
			UserCreated: d.GetUserCreated(),
			Created:     d.GetCreated(), Size: d.GetSize(), Labels: maps.Clone(d.GetLabels()),
		}
	}
	return out, nil
}

// Rebuilds reports how far rebuilds are, by the address tcp://ip:port of the replica.
func (p *Proxy) Rebuilds(ctx context.Context, t Target) (map[string]v1beta2.RebuildStatus, error) {
	ctx, cancel := p.read(ctx)
	defer cancel()
	answer, err := p.service.ReplicaRebuildingStatus(ctx, t.request())
	if err != nil {
		return nil, callError(ctx, "ReplicaRebuildingStatus", p.address, err)
	}
	out := map[string]v1beta2.RebuildStatus{}
	for where, s := range answer.GetStatus() {
		out[WithScheme(where)] = v1beta2.RebuildStatus{IsRebuilding: s.GetIsRebuilding(), Error: inWords(s.GetError()),
			Progress: int(s.GetProgress()),
			State:    s.GetState(), FromReplicaAddress: s.GetFromReplicaAddress(), FromReplicaAddressList: s.GetFromReplicaAddressList()}
	}
	return out, nil
}

// Clones reports how far the last clone into this engine is, by the address of the replica.
func (p *Proxy) Clones(ctx context.Context, t Target) (map[string]v1beta2.SnapshotCloneStatus, error) {
	ctx, cancel := p.read(ctx)
	defer cancel()
	answer, err := p.service.SnapshotCloneStatus(ctx, t.request())
	if err != nil {
		return nil, callError(ctx, "SnapshotCloneStatus", p.address, err)
	}
	out := map[string]v1beta2.SnapshotCloneStatus{}
	for where, s := range answer.GetStatus() {
		out[WithScheme(where)] = v1beta2.SnapshotCloneStatus{IsCloning: s.GetIsCloning(), Error: inWords(s.GetError()),
			Progress: int(s.GetProgress()),
			State:    s.GetState(), FromReplicaAddress: s.GetFromReplicaAddress(), SnapshotName: s.GetSnapshotName()}
	}
	return out, nil
}

// Restores reports how far the last restore into this engine is, by the address of the replica.
func (p *Proxy) Restores(ctx context.Context, t Target) (map[string]v1beta2.RestoreStatus, error) {
	ctx, cancel := p.read(ctx)
	defer cancel()
	answer, err := p.service.BackupRestoreStatus(ctx, t.request())
	if err != nil {
		return nil, callError(ctx, "BackupRestoreStatus", p.address, err)
	}
	out := map[string]v1beta2.RestoreStatus{}
	for where, s := range answer.GetStatus() {
		out[WithScheme(where)] = v1beta2.RestoreStatus{IsRestoring: s.GetIsRestoring(), Error: inWords(s.GetError()),
			Progress: int(s.GetProgress()),
			State:    s.GetState(), LastRestored: s.GetLastRestored(), CurrentRestoringBackup: s.GetCurrentRestoringBackup(),
			Filename: s.GetFilename(), BackupURL: s.GetBackupUrl()}
	}
	return out, nil
}

// Addition is a replica that an engine must take in. Address is ip:port, Size the present size of the volume. With Restoring the next
// restore fills the replica, and the call answers at once.
type Addition struct {
	Name, Address string
	Size          volumesize.Backend
	Restoring     bool
}

// AddReplica lets the engine take a replica in and rebuild it. A v1 server answers when the rebuild is done, which may take any time: the
// call has no deadline but its caller's.
func (p *Proxy) AddReplica(ctx context.Context, t Target, a Addition) error {
	_, err := p.service.ReplicaAdd(ctx, &imrpc.EngineReplicaAddRequest{
		ProxyEngineRequest: t.request(), ReplicaAddress: WithScheme(a.Address), ReplicaName: a.Name, Size: int64(a.Size),
		CurrentSize: int64(a.Size),
		Restore:     a.Restoring, FastSync: true, FileSyncHttpClientTimeout: fileSyncTimeout,
	})
	return callError(ctx, "ReplicaAdd", p.address, err)
}

// VerifyReplica lets a v1 engine read from a write-only replica that was added for a restore and has the backup. A replica that lacks the
// backup becomes ERR.
func (p *Proxy) VerifyReplica(ctx context.Context, t Target, name, address string) error {
	ctx, cancel := p.change(ctx)
	defer cancel()
	_, err := p.service.ReplicaVerifyRebuild(ctx, &imrpc.EngineReplicaVerifyRebuildRequest{ProxyEngineRequest: t.request(),
		ReplicaName: name, ReplicaAddress: WithScheme(address)})
	return callError(ctx, "ReplicaVerifyRebuild", p.address, err)
}

// RemoveReplica takes a replica out of the engine.
func (p *Proxy) RemoveReplica(ctx context.Context, t Target, name, address string) error {
	ctx, cancel := p.change(ctx)
	defer cancel()
	_, err := p.service.ReplicaRemove(ctx, &imrpc.EngineReplicaRemoveRequest{ProxyEngineRequest: t.request(), ReplicaName: name,
		ReplicaAddress: WithScheme(address)})
	return callError(ctx, "ReplicaRemove", p.address, err)
}

// Expand lets the volume grow to a size in bytes. A v1 server may answer before it failed: the size shows it.
func (p *Proxy) Expand(ctx context.Context, t Target, size volumesize.Backend) error {
	ctx, cancel := p.change(ctx)
	defer cancel()
	_, err := p.service.VolumeExpand(ctx, &imrpc.EngineVolumeExpandRequest{ProxyEngineRequest: t.request(),
		Expand: &ptypes.VolumeExpandRequest{Size: int64(size)}})
	return callError(ctx, "VolumeExpand", p.address, err)
}

// CloneFrom lets the engine copy a snapshot of another running engine.
func (p *Proxy) CloneFrom(ctx context.Context, t, source Target, snapshot string) error {
	ctx, cancel := p.change(ctx)
	defer cancel()
	_, err := p.service.SnapshotClone(ctx, &imrpc.EngineSnapshotCloneRequest{
		ProxyEngineRequest: t.request(), FromEngineAddress: source.Address, FromEngineName: source.Engine, FromVolumeName: source.Volume,
		SnapshotName: snapshot, FileSyncHttpClientTimeout: fileSyncTimeout,
	})
	return callError(ctx, "SnapshotClone", p.address, err)
}

// RestoreOrder is one backup that an engine must be filled from.
type RestoreOrder struct {
	URL string
	// Concurrency is how many blocks are copied at once.
	Concurrency int
	// Credentials are environment variables, as KEY=VALUE.
	Credentials []string
}

// Restore lets the engine take its data from a backup. Why the engine does not begin is in an answer with OK, where it is not the server's
// own error.
func (p *Proxy) Restore(ctx context.Context, t Target, o RestoreOrder) error {
	ctx, cancel := p.change(ctx)
	defer cancel()
	target, _, _ := strings.Cut(o.URL, "?")
	answer, err := p.service.BackupRestore(ctx, &imrpc.EngineBackupRestoreRequest{
		ProxyEngineRequest: t.request(), Url: o.URL, Target: target, VolumeName: t.Volume, ConcurrentLimit: int32(o.Concurrency),
		Envs: o.Credentials,
	})
	if err == nil {
		err = taskError(answer.GetTaskError())
	}
	return callError(ctx, "BackupRestore", p.address, err)
}

// fileSyncTimeout is how many seconds one file transfer may take.
const fileSyncTimeout = 30

func (t Target) request() *imrpc.ProxyEngineRequest {
	return &imrpc.ProxyEngineRequest{Address: t.Address, EngineName: t.Engine, VolumeName: t.Volume, EngineFrontendName: t.Frontend,
		DataEngine: dataEngines[t.DataEngine]}
}

func (p *Proxy) read(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, p.options.ListTimeout)
}

func (p *Proxy) change(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, p.options.LifecycleTimeout)
}

// scheme is that of the addresses of replicas.
const scheme = "tcp://"

// WithScheme is an address as engines list it: tcp://ip:port.
func WithScheme(address string) string {
	if strings.Contains(address, "://") {
		return address
	}
	return scheme + address
}

// WithoutScheme is an address as engines are started with it: ip:port.
func WithoutScheme(address string) string { return strings.TrimPrefix(address, scheme) }
