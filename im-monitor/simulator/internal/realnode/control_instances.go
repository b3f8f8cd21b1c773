package realnode

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

func (m *Machine) listInstances(r *http.Request) (any, error) {
	all, err := m.everything(r.Context())
	q := r.URL.Query()
	return slices.DeleteFunc(all, func(i control.Instance) bool {
		return control.Differs(q.Get("node"), i.Node) || control.Differs(q.Get("engine"), i.DataEngine) || control.Differs(q.Get("pod"), i.Pod) ||
			control.Differs(q.Get("name"), i.Name)
	}), err
}

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
