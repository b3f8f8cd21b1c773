package realnode

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
)

// listVolumes lists the running engines of volumes with the modes of their replicas.
func (m *Machine) listVolumes(r *http.Request) (any, error) {
	names, volumes := map[string]string{}, map[string]*dataplane.VolumeInfo{}
	all, err := m.everything(r.Context())
	if err != nil {
		return nil, err
	}
	for _, i := range all {
		if p, ok := m.Pod(i.Pod); ok {
			names[fmt.Sprintf("%s:%d", p.IP, i.PortStart)] = i.Name
		}
	}
	for _, p := range m.live() {
		tasks, err := m.tasksOf(p)
		if err != nil {
			continue // the pod ended
		}
		for _, t := range tasks {
			at := slices.IndexFunc(all, func(i control.Instance) bool { return i.Pod == p.Name && i.Name == t.instance() })
			if at < 0 || t.after("controller") == "" || control.Differs(r.URL.Query().Get("name"), t.volume()) {
				continue
			}
			modes, err := m.modes(r.Context(), p, all[at], t.volume(), names)
			if err != nil {
				continue // the engine is starting or ending
			}
			if volumes[t.volume()] == nil {
				volumes[t.volume()] = &dataplane.VolumeInfo{Name: t.volume()}
			}
			v := volumes[t.volume()]
			v.Engines = append(v.Engines, dataplane.EngineInfo{Node: p.Node, Name: t.instance(), Modes: modes,
				Frontend: t.after("--frontend")})
		}
	}
	out := []dataplane.VolumeInfo{}
	for _, v := range volumes {
		out = append(out, *v)
	}
	slices.SortFunc(out, func(a, b dataplane.VolumeInfo) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (m *Machine) readVolume(r *http.Request) (any, error) {
	block, err := strconv.ParseInt("0"+r.URL.Query().Get("block"), 10, 64)
	if err != nil {
		return nil, control.BadRequest(err)
	}
	text, err := m.read(r.PathValue("name"), r.URL.Query().Get("node"), block)
	return control.ReadBlock{Text: text, Written: text != ""}, err
}

func (m *Machine) writeVolume(r *http.Request) (any, error) {
	in, err := control.Read[control.WriteBlock](r)
	if err != nil {
		return nil, err
	}
	return nothing{}, m.write(r.Context(), r.PathValue("name"), in.Node, in.Block, in.Text, min(time.Duration(in.Wait), control.LongestWait))
}

// saveVolume takes a snapshot of a volume in use, and with a target a backup of it, and returns when both are complete.
func (m *Machine) saveVolume(r *http.Request) (any, error) {
	in, err := control.Read[control.SaveVolume](r)
	if err != nil {
		return nil, err
	}
	return m.save(r.Context(), r.PathValue("name"), in)
}

// engineOf finds the engine that serves a volume.
func (m *Machine) engineOf(ctx context.Context, volume string) (*pod, control.Instance, error) {
	for _, p := range m.live() {
		tasks, err := m.tasksOf(p)
		if err != nil {
			return nil, control.Instance{}, err
		}
		for _, t := range tasks {
			if t.after("controller") == volume {
				return m.find(ctx, p.Node, t.instance())
			}
		}
	}
	return nil, control.Instance{}, fmt.Errorf("%w: no engine serves volume %s", control.ErrConflict, volume)
}

func (m *Machine) save(ctx context.Context, volume string, in control.SaveVolume) (map[string]string, error) {
	p, engine, err := m.engineOf(ctx, volume)
	if err != nil {
		return nil, err
	}
	request := requestOf(p, engine, volume)
	if err := m.askEngine(ctx, p, func(ctx context.Context, c imrpc.ProxyEngineServiceClient) error {
		_, err := c.VolumeSnapshot(ctx, &imrpc.EngineVolumeSnapshotRequest{ProxyEngineRequest: request,
			SnapshotVolume: &ptypes.VolumeSnapshotRequest{Name: in.Snapshot}})
		return err
	}); err != nil || in.Target == "" {
		return map[string]string{"snapshot": in.Snapshot}, err
	}
	replica := ""
	if err := m.askEngine(ctx, p, func(ctx context.Context, c imrpc.ProxyEngineServiceClient) error {
		answer, err := c.SnapshotBackup(ctx, &imrpc.EngineSnapshotBackupRequest{ProxyEngineRequest: request, BackupName: in.Backup,
			SnapshotName: in.Snapshot, BackupTarget: in.Target, CompressionMethod: "lz4", ConcurrentLimit: 1})
		replica = answer.GetReplica()
		return err
	}); err != nil {
		return nil, fmt.Errorf("backing up volume %s: %w", volume, err)
	}
	url, err := m.backedUp(ctx, p, request, in.Backup, replica)
	return map[string]string{"snapshot": in.Snapshot, "url": url}, err
}

// backedUp waits until a backup is complete, and returns its URL.
func (m *Machine) backedUp(ctx context.Context, p *pod, request *imrpc.ProxyEngineRequest, backup, replica string) (url string, err error) {
	ctx, cancel := context.WithTimeout(ctx, control.LongestWait)
	defer cancel()
	for {
		var answer *imrpc.EngineSnapshotBackupStatusProxyResponse
		if err := m.askEngine(ctx, p, func(ctx context.Context, c imrpc.ProxyEngineServiceClient) (err error) {
			answer, err = c.SnapshotBackupStatus(ctx, &imrpc.EngineSnapshotBackupStatusRequest{ProxyEngineRequest: request,
				BackupName: backup, ReplicaAddress: replica})
			return err
		}); err != nil {
			return "", fmt.Errorf("reading the state of backup %s: %w", backup, err)
		}
		switch {
		case answer.GetError() != "":
			return "", fmt.Errorf("backup %s failed: %s", backup, answer.GetError())
		case answer.GetState() == "complete":
			return answer.GetBackupUrl(), nil
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return "", fmt.Errorf("backup %s is %s: %w", backup, answer.GetState(), err)
		}
	}
}

func (m *Machine) addWriter(r *http.Request) (any, error) {
	in, err := control.Read[control.StartWriter](r)
	if err != nil {
		return nil, err
	}
	return nothing{}, m.startWriter(in)
}

// holdCopies keeps new replicas of a volume without data, or lets them get it. What holds a copy here holds it before it begins.
func (m *Machine) holdCopies(r *http.Request) (any, error) {
	in, err := control.Read[control.CopyTime](r)
	if err != nil {
		return nil, err
	}
	if in.Hold || in.HoldBefore {
		m.hold(in.Volume)
	} else {
		m.release(in.Volume)
	}
	return nothing{}, nil
}

// putBacking writes the file of a backing image to the disk of a node.
func (m *Machine) putBacking(r *http.Request) (any, error) {
	in, err := control.Read[dataplane.Backing](r)
	if err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("qemu-img"); err != nil {
		return nil, fmt.Errorf("%w: a backing image, which engines read with the command qemu-img (Debian: qemu-utils)", control.ErrNotServed)
	}
	m.mutex.Lock()
	n := m.nodes[in.Node]
	m.mutex.Unlock()
	if n == nil || !strings.HasPrefix(in.Path, "/host/") {
		return nil, control.BadRequest(fmt.Errorf("a backing image needs a known node and a path below /host"))
	}
	file := filepath.Join(n.host, strings.TrimPrefix(in.Path, "/host"))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, fmt.Errorf("making the directory of a backing image: %w", err)
	}
	content := make([]byte, in.Size)
	for block, text := range in.Blocks {
		at := block * blockSize
		if at+int64(len(text)) > int64(len(content)) {
			content = append(content, make([]byte, at+blockSize-int64(len(content)))...)
		}
		copy(content[at:], text)
	}
	return nothing{}, os.WriteFile(file, content, 0o644)
}
