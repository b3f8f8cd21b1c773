package instancemanagercontroller

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
)

// optimized is the state of the path that carries I/O.
const optimized = "optimized"

// readFrontends finds out where the engine frontends of an instance manager lead, and whether an engine serves there. For the deletion of
// the pod the lists of the instance managers there are read again.
func (s *reconciler) readFrontends(ctx context.Context, w *instancemanager.World) error {
	snapshot, known := s.store.Latest(w.InstanceManager.Name)
	if !known || len(w.Inventory.Processes.EngineFrontends) == 0 {
		return nil
	}
	var managers v1beta2.InstanceManagerList
	if err := s.rt.Client.List(ctx, &managers, client.InNamespace(s.rt.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing instance managers: %w", err)
	}
	lists := map[string]*inventory.Snapshot{} // by instance manager, nil where it does not answer
	for _, name := range slices.Sorted(maps.Keys(w.Inventory.Processes.EngineFrontends)) {
		listed, there := snapshot.Instances.Find(name)
		if !there {
			continue
		}
		f := frontendOf(listed)
		if at := managerAt(&managers, f.ActivePath); at != nil {
			if err := s.readTarget(ctx, w, &f, at, lists); err != nil {
				return err
			}
		}
		w.Frontends = append(w.Frontends, f)
	}
	return nil
}

func frontendOf(i inventory.Instance) instancemanager.Frontend {
	f := instancemanager.Frontend{Name: i.Name, State: i.State}
	if i.Frontend == nil {
		return f
	}
	f.Kind, f.ActivePath = i.Frontend.Kind, i.Frontend.ActivePath
	f.Promoted = !slices.ContainsFunc(i.Frontend.Paths, func(p imclient.Path) bool {
		active := net.JoinHostPort(p.TargetIP, strconv.Itoa(int(p.TargetPort))) == f.ActivePath
		return active != (p.ANAState == optimized)
	})
	return f
}

// managerAt is the running v2 instance manager at an address; nil where there is none.
func managerAt(managers *v1beta2.InstanceManagerList, where string) *v1beta2.InstanceManager {
	host, _, err := net.SplitHostPort(where)
	if err != nil {
		return nil
	}
	for i := range managers.Items {
		im := &managers.Items[i]
		if im.Spec.DataEngine == v1beta2.DataEngineV2 && im.Status.IP == host &&
			im.Status.CurrentState == v1beta2.InstanceManagerStateRunning {
			return im
		}
	}
	return nil
}

// readTarget fills in what is known of the engine that a frontend leads to.
func (s *reconciler) readTarget(ctx context.Context, w *instancemanager.World, f *instancemanager.Frontend, at *v1beta2.InstanceManager,
	lists map[string]*inventory.Snapshot) error {
	_, own, err := s.nodeFacts(ctx, at.Spec.NodeID)
	if err != nil {
		return err
	}
	if own == nil || v1beta2.IsNodeDown(own) {
		return nil
	}
	f.TargetNode = at.Spec.NodeID
	if at.Name == w.InstanceManager.Name {
		return nil
	}
	list, read := lists[at.Name]
	if !read {
		list = s.newestOf(ctx, at.Name, w.Inventory.Asked)
		lists[at.Name] = list
	}
	if list == nil {
		return nil
	}
	for _, i := range list.Instances.All() {
		if i.Type == v1beta2.InstanceTypeEngine && i.State == v1beta2.InstanceStateRunning &&
			net.JoinHostPort(at.Status.IP, strconv.Itoa(int(i.PortStart))) == f.ActivePath {
			f.Serves = true
		}
	}
	return nil
}

// newestOf is a list of an instance manager, begun now where that is asked for; nil where it does not answer.
func (s *reconciler) newestOf(ctx context.Context, name string, fresh bool) *inventory.Snapshot {
	if !fresh {
		list, _ := s.store.Latest(name)
		return list
	}
	list, err := s.store.Fresh(ctx, name)
	if err != nil {
		s.rt.Log.Info("the target of a frontend is not listed", "name", name, "error", err.Error())
		return nil
	}
	return list
}
