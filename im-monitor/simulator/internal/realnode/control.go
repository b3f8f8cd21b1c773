package realnode

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

// longestWait bounds how long a request may wait.
const longestWait = time.Minute

// nothing is the answer to a request that only does something.
type nothing struct{}

// Handler answers the simulator's control endpoint for real nodes. removeNode removes a node with its object.
func (m *Machine) Handler(removeNode func(context.Context, string) error) http.Handler {
	return control.Route(m.options.Log, map[string]control.Handle{
		"GET /v1/status": m.status,
		"GET /v1/nodes":  func(*http.Request) (any, error) { return m.Nodes(), nil },
		"POST /v1/nodes": m.addNodes,
		"DELETE /v1/nodes/{name}": func(r *http.Request) (any, error) {
			return nothing{}, removeNode(r.Context(), r.PathValue("name"))
		},
		"POST /v1/nodes/{name}/state":        m.setNode,
		"GET /v1/pods":                       func(*http.Request) (any, error) { return m.Pods(), nil },
		"POST /v1/pods/{name}/restart":       m.onPodOf(m.Restart),
		"POST /v1/pods/{name}/crash":         m.onPodOf(m.Crash),
		"GET /v1/instances":                  m.listInstances,
		"POST /v1/instances":                 m.putInstances,
		"PATCH /v1/instances/{node}/{name}":  m.changeInstance,
		"DELETE /v1/instances/{node}/{name}": m.removeInstance,
		"POST /v1/backing-images":            m.putBacking,
		"POST /v1/engine-images":             m.putEngineImage,
		"GET /v1/journal":                    m.readJournal,
		"GET /v1/volumes":                    m.listVolumes,
		"GET /v1/volumes/{name}/verify":      func(r *http.Request) (any, error) { return m.verify(r.PathValue("name")) },
		"GET /v1/volumes/{name}/read":        m.readVolume,
		"POST /v1/volumes/{name}/write":      m.writeVolume,
		"POST /v1/volumes/{name}/save":       m.saveVolume,
		"GET /v1/writers": func(r *http.Request) (any, error) {
			return shownWriters(m.listWriters(r.URL.Query().Get("volume"))), nil
		},
		"POST /v1/writers": m.addWriter,
		"DELETE /v1/writers": func(r *http.Request) (any, error) {
			return shownWriters(m.stopWriters(r.URL.Query().Get("volume"))), nil
		},
		"POST /v1/copy-time": m.holdCopies,
		"GET /v1/faults":     func(*http.Request) (any, error) { return m.front.list(), nil },
		"POST /v1/faults":    m.addFault,
		"DELETE /v1/faults":  m.clearFaults,
		"/":                  notServed,
	})
}

// notServed answers a request that only the simulator serves.
func notServed(r *http.Request) (any, error) {
	return nil, fmt.Errorf("%w: %s %s, since the servers are real", control.ErrNotServed, r.Method, r.URL.Path)
}

func (m *Machine) status(*http.Request) (any, error) {
	return control.Status{Mode: "real", Block: "198.18.0.0/16", PortOffset: m.options.PortOffset, TLS: m.options.TLSDirectory != "",
		Nodes: len(m.Nodes()), Pods: len(m.Pods()), Faults: len(m.front.list())}, nil
}

func (m *Machine) addNodes(r *http.Request) (any, error) {
	in, err := control.Read[control.AddNodes](r)
	if err != nil {
		return nil, err
	}
	for _, name := range in.Names {
		if err := m.AddNode(name); err != nil {
			return nil, err
		}
	}
	return in.Names, nil
}

func (m *Machine) setNode(r *http.Request) (any, error) {
	in, err := control.Read[control.SetNode](r)
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]machine.NodeState{machine.Up, machine.Cut, machine.Dead}, in.State) {
		return nil, control.BadRequest(fmt.Errorf("state %q is not up, cut or dead", in.State))
	}
	return nothing{}, m.SetNode(r.PathValue("name"), in.State)
}

// onPodOf does something to a pod, which is named as itself or as node:engine.
func (m *Machine) onPodOf(do func(string) error) control.Handle {
	return func(r *http.Request) (any, error) {
		name := r.PathValue("name")
		if node, engine, found := strings.Cut(name, ":"); found {
			p, err := m.on(node, engine)
			if err != nil {
				return nil, err
			}
			name = p.Name
		}
		return nothing{}, do(name)
	}
}

func (m *Machine) listInstances(r *http.Request) (any, error) {
	all, err := m.everything(r.Context())
	q := r.URL.Query()
	return slices.DeleteFunc(all, func(i control.Instance) bool {
		return differs(q.Get("node"), i.Node) || differs(q.Get("engine"), i.DataEngine) || differs(q.Get("pod"), i.Pod) ||
			differs(q.Get("name"), i.Name)
	}), err
}

func differs(wanted, found string) bool { return wanted != "" && wanted != found }

func (m *Machine) putInstances(r *http.Request) (any, error) {
	in, err := control.Read[control.PutRequest](r)
	if err != nil {
		return nil, err
	}
	out := control.PutAnswer{}
	for _, i := range in.Instances {
		made, err := m.put(r.Context(), i)
		if err != nil {
			return nil, err
		}
		out.Count++
		out.Instances = append(out.Instances, made)
	}
	return out, nil
}

// changeInstance kills the process of an instance that is to fail, and replaces an instance that is to have a new UUID.
func (m *Machine) changeInstance(r *http.Request) (any, error) {
	in, err := control.Read[dataplane.Change](r)
	if err != nil {
		return nil, err
	}
	p, i, err := m.find(r.Context(), r.PathValue("node"), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	switch {
	case in.State != nil && *in.State == dataplane.Failed && in.UUID == "":
		return i, m.killInstance(p, i.Name)
	case in.State == nil && in.UUID == dataplane.NewUUID:
		return m.replace(r.Context(), p, i)
	}
	return nil, fmt.Errorf("%w: a change of an instance that is neither its crash nor a new UUID", control.ErrNotServed)
}

// replace ends an instance and starts one with the same arguments.
func (m *Machine) replace(ctx context.Context, p *pod, i control.Instance) (control.Instance, error) {
	tasks, err := m.tasksOf(p)
	if err != nil {
		return i, err
	}
	at := slices.IndexFunc(tasks, func(t task) bool { return t.instance() == i.Name })
	if at < 0 {
		return i, fmt.Errorf("instance %s has no process: %w", i.Name, machine.ErrNotFound)
	}
	args := tasks[at].args
	if listen := slices.Index(args, "--listen"); listen >= 0 {
		args = slices.Delete(slices.Clone(args), listen, min(listen+2, len(args)))
	}
	if err := m.remove(ctx, p.Node, i.Name); err != nil {
		return i, err
	}
	return m.create(ctx, p, &imrpc.InstanceSpec{Name: i.Name, Type: i.Type, VolumeName: tasks[at].volume(),
		DataEngine: imrpc.DataEngine_DATA_ENGINE_V1, PortCount: i.PortEnd - i.PortStart + 1, PortArgs: []string{"--listen,:"},
		ProcessInstanceSpec: &imrpc.ProcessInstanceSpec{Binary: args[0], Args: args[1:]}})
}

func (m *Machine) removeInstance(r *http.Request) (any, error) {
	return nothing{}, m.remove(r.Context(), r.PathValue("node"), r.PathValue("name"))
}

// putBacking writes the file of a backing image to the disk of a node.
func (m *Machine) putBacking(r *http.Request) (any, error) {
	in, err := control.Read[dataplane.Backing](r)
	if err != nil {
		return nil, err
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

func (m *Machine) putEngineImage(r *http.Request) (any, error) {
	in, err := control.Read[control.SetEngineImage](r)
	if err != nil {
		return nil, err
	}
	if in.CLI != CLIVersion {
		return nil, fmt.Errorf("%w: an engine image of CLI API version %d: the engine binary has %d", control.ErrNotServed, in.CLI, CLIVersion)
	}
	return nothing{}, m.AddEngineImage(in.Image)
}

// CLIVersion is the CLI API version of the engine binaries that this package was written for.
const CLIVersion = 12

func (m *Machine) readJournal(r *http.Request) (any, error) {
	q := r.URL.Query()
	after, err := strconv.ParseUint("0"+q.Get("after"), 10, 64)
	if err != nil {
		return nil, control.BadRequest(err)
	}
	wait, err := time.ParseDuration("0" + q.Get("wait"))
	if q.Get("wait") != "" && err != nil {
		return nil, control.BadRequest(err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), min(wait, longestWait))
	defer cancel()
	out := []entry{}
	for len(out) == 0 {
		entries := m.front.journal.after(ctx, after)
		if len(entries) == 0 {
			break
		}
		after = entries[len(entries)-1].Serial
		for _, e := range entries {
			if !differs(q.Get("source"), e.Source) && !differs(q.Get("node"), e.Node) && !differs(q.Get("name"), e.Name) &&
				!differs(q.Get("method"), e.Method) {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

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
			if at < 0 || t.after("controller") == "" || differs(r.URL.Query().Get("name"), t.volume()) {
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
	return nothing{}, m.write(r.Context(), r.PathValue("name"), in.Node, in.Block, in.Text, min(time.Duration(in.Wait), longestWait))
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
	ctx, cancel := context.WithTimeout(ctx, longestWait)
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

// holdCopies keeps new replicas of a volume without data, or lets them get it.
func (m *Machine) holdCopies(r *http.Request) (any, error) {
	in, err := control.Read[control.CopyTime](r)
	if err != nil {
		return nil, err
	}
	if in.Hold {
		m.hold(in.Volume)
	} else {
		m.release(in.Volume)
	}
	return nothing{}, nil
}

// addFault sets a fault of calls, or cuts the link of a node.
func (m *Machine) addFault(r *http.Request) (any, error) {
	in, err := control.Read[fault.Rule](r)
	if err != nil {
		return nil, err
	}
	if in.Kind != fault.Partition {
		id, err := m.front.add(in)
		return control.AddedFault{ID: id}, err
	}
	if in.Node == "" || in.Method != "" || in.DataEngine != "" || in.Pod != "" {
		return nil, fmt.Errorf("%w: a partition of anything but a node", control.ErrNotServed)
	}
	return control.AddedFault{ID: nodeRule(in.Node)}, m.partition(in.Node, in.Mode != "blackhole")
}

// nodeRule is the ID of the fault that cuts the link of a node.
func nodeRule(node string) string { return "node-" + node }

// partition cuts the links of a node's pods; with part their connections also end.
func (m *Machine) partition(node string, part bool) error {
	var pods []*pod
	for _, p := range m.live() {
		if p.Node == node {
			pods = append(pods, p)
		}
	}
	m.mutex.Lock()
	m.parted[node] = true
	m.mutex.Unlock()
	for _, p := range pods {
		if err := m.network.setLink(p.where, false); err != nil {
			return err
		}
	}
	if part {
		m.front.part(pods)
	}
	return nil
}

// heal mends the links that partition cut; of one node, or of all where the name is empty.
func (m *Machine) heal(node string) (int, error) {
	m.mutex.Lock()
	var nodes []string
	for name := range m.parted {
		if node == "" || node == name {
			nodes = append(nodes, name)
			delete(m.parted, name)
		}
	}
	m.mutex.Unlock()
	for _, p := range m.live() {
		if !slices.Contains(nodes, p.Node) {
			continue
		}
		if err := m.network.setLink(p.where, true); err != nil {
			return 0, err
		}
		if err := m.front.join([]*pod{p}); err != nil {
			return 0, err
		}
	}
	return len(nodes), nil
}

func (m *Machine) clearFaults(r *http.Request) (any, error) {
	id := r.URL.Query().Get("id")
	count := m.front.clear(id)
	if node, found := strings.CutPrefix(id, nodeRule("")); found {
		// The link of a node is mended; its kubelet stays as it is.
		for _, p := range m.live() {
			if p.Node == node {
				if err := m.network.setLink(p.where, true); err != nil {
					return nil, err
				}
			}
		}
	}
	if id != "" && !strings.HasPrefix(id, nodeRule("")) {
		return control.Cleared{Count: count}, nil
	}
	healed, err := m.heal(strings.TrimPrefix(id, nodeRule("")))
	return control.Cleared{Count: count + healed}, err
}
