package world

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Instance is an instance to be started on an instance manager.
type Instance struct {
	InstanceManager, Name, Type, DataEngine, Volume, DiskUUID string
	// Replicas maps an engine's replicas to their addresses.
	Replicas map[string]string
}

// Running is a listed instance in any state, with its true UUID.
type Running struct {
	Node  string `json:"node"`
	Pod   string `json:"pod"`
	Name  string `json:"name"`
	Type  string `json:"type"`
	State string `json:"state"`
	UUID  string `json:"uuid"`
	Port  int    `json:"portStart"`
	IP    string `json:"-"`
}

// status is the status of an object whose instance runs.
func (r Running) status(manager string) map[string]any {
	return map[string]any{"currentState": v1beta2.InstanceStateRunning, "started": true, "starting": false, "instanceManagerName": manager,
		"ip": r.IP, "storageIP": r.IP, "port": r.Port, "uuid": r.UUID}
}

type putInstance struct {
	Node       string            `json:"node"`
	Name       string            `json:"name"`
	Type       string            `json:"type"`
	DataEngine string            `json:"dataEngine"`
	Volume     string            `json:"volume,omitempty"`
	DiskName   string            `json:"diskName,omitempty"`
	DiskUUID   string            `json:"diskUUID,omitempty"`
	UUID       string            `json:"uuid,omitempty"`
	Size       uint64            `json:"size,omitempty"`
	PortCount  int32             `json:"portCount,omitempty"`
	Replicas   map[string]string `json:"replicas,omitempty"`
}

type putRequest struct {
	Instances []putInstance `json:"instances"`
	CountOnly bool          `json:"brief,omitempty"`
}

// diskName is the v2 disk of every node.
const diskName = "disk-1"

// StartInstance starts an instance on an instance manager, without a controller.
func (w *World) StartInstance(ctx context.Context, i Instance) (Running, error) {
	node, _ := w.place(i.InstanceManager)
	put := putInstance{Node: node, Name: i.Name, Type: i.Type, DataEngine: i.DataEngine, Volume: i.Volume, Size: VolumeSize, PortCount: 5,
		Replicas: i.Replicas}
	if i.Type == v1beta2.InstanceTypeReplica && i.DataEngine == v1beta2.DataEngineV2 {
		put.DiskName = diskName
	}
	if i.Type == v1beta2.InstanceTypeEngine {
		put.PortCount = 1
	}
	var answer struct {
		Instances []Running `json:"instances"`
	}
	if err := w.ctl(ctx, http.MethodPost, "/v1/instances", putRequest{Instances: []putInstance{put}}, &answer); err != nil {
		return Running{}, err
	}
	if len(answer.Instances) != 1 {
		return Running{}, fmt.Errorf("the simulator started %d instances, not %s", len(answer.Instances), i.Name)
	}
	running := answer.Instances[0]
	var err error
	running.IP, err = w.AddressOf(ctx, running.Pod)
	return running, err
}

// start is StartInstance for the owner of the name, which polls before it creates: it adopts a running instance, and waits
// for the end of one that is ending.
func (w *World) start(ctx context.Context, i Instance) (running Running, err error) {
	err = w.Wait(ctx, "the start of "+i.Name, 30*time.Second, func(ctx context.Context) (string, error) {
		listed, err := w.Inventory(ctx, i.InstanceManager)
		if err != nil {
			return "", err
		}
		there, ok := listed[i.Name]
		switch {
		case ok && there.State == v1beta2.InstanceStateRunning:
			running = there
			running.IP, err = w.AddressOf(ctx, there.Pod)
		case !ok || i.DataEngine == v1beta2.DataEngineV2 && i.Type == v1beta2.InstanceTypeReplica &&
			there.State == v1beta2.InstanceStateStopped:
			running, err = w.StartInstance(ctx, i)
		default:
			return "it is listed as " + there.State, nil
		}
		return "", err
	})
	return running, err
}

// PutAll starts many instances under the given UUIDs.
func (w *World) PutAll(ctx context.Context, list []Stale) error {
	const batch = 5000
	for len(list) > 0 {
		request := putRequest{CountOnly: true}
		for _, s := range list[:min(batch, len(list))] {
			request.Instances = append(request.Instances,
				putInstance{Node: s.Node, Name: s.Name, Type: s.Type, DataEngine: s.DataEngine, UUID: s.UUID, Size: VolumeSize})
		}
		if err := w.ctl(ctx, http.MethodPost, "/v1/instances", request, nil); err != nil {
			return err
		}
		list = list[min(batch, len(list)):]
	}
	return nil
}

// AddressOf returns the address of a pod, which does not change while it lives.
func (w *World) AddressOf(ctx context.Context, pod string) (string, error) {
	var pods []struct{ Name, IP string }
	if err := w.ctl(ctx, http.MethodGet, "/v1/pods", nil, &pods); err != nil {
		return "", err
	}
	for _, p := range pods {
		if p.Name == pod {
			return p.IP, nil
		}
	}
	return "", fmt.Errorf("the simulator runs no pod %s", pod)
}

// StopInstance ends an instance as its owner would. A v2 replica stays as data unless it is destroyed.
func (w *World) StopInstance(ctx context.Context, manager, name string, destroy bool) error {
	node, _ := w.place(manager)
	return w.ctl(ctx, http.MethodDelete, fmt.Sprintf("/v1/instances/%s/%s?destroy=%t", node, name, destroy), nil, nil)
}

// ReplaceInstance replaces the instance of that name: the new one has another UUID.
func (w *World) ReplaceInstance(ctx context.Context, s Stale) (Running, error) {
	var running Running
	err := w.ctl(ctx, http.MethodPatch, "/v1/instances/"+s.Node+"/"+s.Name, map[string]any{"uuid": "new"}, &running)
	return running, err
}

// Inventory is everything that an instance manager lists, by name.
func (w *World) Inventory(ctx context.Context, manager string) (map[string]Running, error) {
	node, engine := w.place(manager)
	var list []Running
	query := url.Values{"node": {node}, "engine": {engine}}
	if err := w.ctl(ctx, http.MethodGet, "/v1/instances?"+query.Encode(), nil, &list); err != nil {
		return nil, err
	}
	out := map[string]Running{}
	for _, r := range list {
		out[r.Name] = r
	}
	return out, nil
}

// place returns node and data engine of an instance manager by its name.
func (w *World) place(manager string) (node, engine string) {
	for _, node := range w.options.Nodes {
		for _, engine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
			if w.InstanceManager(node, engine) == manager {
				return node, engine
			}
		}
	}
	return "", ""
}

// Deletion is one InstanceDelete that reached the data plane.
type Deletion struct {
	Time                                        time.Time
	InstanceManager, Name, UUIDAsked, UUIDFound string
	// Cleanup was requested; Executed means that the call had an effect, DataDestroyed that it destroyed data.
	Cleanup, Executed, DataDestroyed bool
}

// Deletions are the deletions since the last Sweep, refused and idle ones included. The World's own deletions are not.
func (w *World) Deletions(ctx context.Context) ([]Deletion, error) {
	var entries []struct {
		Serial                                  uint64
		Time                                    time.Time
		Pod, Name, UUIDAsked, UUIDFound, Effect string
		Cleanup                                 bool `json:"cleanupRequired"`
		DataDestroyed                           bool
	}
	path := fmt.Sprintf("/v1/journal?source=wire&method=InstanceDelete&after=%d", w.journalMark())
	if err := w.ctl(ctx, http.MethodGet, path, nil, &entries); err != nil {
		return nil, err
	}
	var out []Deletion
	for _, e := range entries {
		out = append(out, Deletion{Time: e.Time, InstanceManager: e.Pod, Name: e.Name, UUIDAsked: e.UUIDAsked, UUIDFound: e.UUIDFound,
			Cleanup: e.Cleanup, Executed: e.Effect != "none", DataDestroyed: e.DataDestroyed})
	}
	return out, nil
}

// AnyDeletion lists the deletions that had an effect since the last Sweep, as a text.
func (w *World) AnyDeletion(ctx context.Context) (string, error) {
	deletions, err := w.Deletions(ctx)
	var out []string
	for _, d := range deletions {
		if d.Executed {
			out = append(out, fmt.Sprintf("%s (%s) on %s", d.Name, d.UUIDFound, d.InstanceManager))
		}
	}
	return strings.Join(out, "; "), err
}

// CallsOf lists the calls that created or deleted an instance since the last Sweep, one a line.
func (w *World) CallsOf(ctx context.Context, name string) (string, error) {
	var entries []struct {
		Time                                         time.Time
		Pod, Name, Method, UUIDFound, Result, Effect string
	}
	if err := w.ctl(ctx, http.MethodGet, fmt.Sprintf("/v1/journal?after=%d", w.journalMark()), nil, &entries); err != nil {
		return "", err
	}
	var out []string
	for _, e := range entries {
		if e.Name == name {
			out = append(out, fmt.Sprintf("%s %s on %s: %s, %s (%s)", e.Time.Format(time.StampMilli), e.Method, e.Pod, e.Result, e.Effect,
				e.UUIDFound))
		}
	}
	return strings.Join(out, "\n"), nil
}

func (w *World) journalMark() uint64 {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.mark
}

// markJournal sets the start of Deletions.
func (w *World) markJournal(ctx context.Context) error {
	var entries []struct{ Serial uint64 }
	if err := w.ctl(ctx, http.MethodGet, fmt.Sprintf("/v1/journal?after=%d", w.journalMark()), nil, &entries); err != nil {
		return err
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if len(entries) > 0 {
		w.mark = entries[len(entries)-1].Serial
	}
	return nil
}
