package world

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// Inject lets the simulator misbehave.
func (w *World) Inject(ctx context.Context, f Fault) error {
	return w.ctl(ctx, http.MethodPost, "/v1/faults", f, nil)
}

// Heal ends every injected misbehaviour. Partitioned nodes stay partitioned.
func (w *World) Heal(ctx context.Context) error {
	return w.ctl(ctx, http.MethodDelete, "/v1/faults", nil, nil)
}

// CutNode partitions a node: no component reaches it, its kubelet sends no heartbeat, its instances still run.
func (w *World) CutNode(ctx context.Context, node string) error { return w.setNode(ctx, node, "cut") }

// JoinNode reconnects a node.
func (w *World) JoinNode(ctx context.Context, node string) error { return w.setNode(ctx, node, "up") }

// AddNode adds a machine to the cluster.
func (w *World) AddNode(ctx context.Context, node string) error {
	return w.ctl(ctx, http.MethodPost, "/v1/nodes", map[string]any{"names": []string{node}}, nil)
}

// RemoveNode removes a machine for good: its Kubernetes node is deleted.
func (w *World) RemoveNode(ctx context.Context, node string) error {
	return w.ctl(ctx, http.MethodDelete, "/v1/nodes/"+node, nil, nil)
}

// KillKubelet stops the node's kubelet; the node's data plane still runs and is reachable.
func (w *World) KillKubelet(ctx context.Context, node string) error {
	if err := w.CutNode(ctx, node); err != nil {
		return err
	}
	return w.ctl(ctx, http.MethodDelete, "/v1/faults?"+url.Values{"id": {"node-" + node}}.Encode(), nil, nil)
}

// SetKubeletReady makes the Kubernetes node report that its kubelet is ready or not, as a kubelet's restart does. Its heartbeats go on.
func (w *World) SetKubeletReady(ctx context.Context, node string, ready bool) error {
	condition := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady",
		LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}
	if ready {
		condition.Status, condition.Reason = corev1.ConditionTrue, "KubeletReady"
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []corev1.NodeCondition{condition}}})
	if err != nil {
		return fmt.Errorf("encoding the condition of node %s: %w", node, err)
	}
	if err := w.Admin.Status().Patch(ctx, kubernetesNode(node), client.RawPatch(types.StrategicMergePatchType, patch)); err != nil {
		return fmt.Errorf("writing the condition of node %s: %w", node, err)
	}
	return nil
}

// Cordon cordons or uncordons the Kubernetes node.
func (w *World) Cordon(ctx context.Context, node string, cordoned bool) error {
	return w.patch(ctx, kubernetesNode(node), map[string]any{"spec": map[string]any{"unschedulable": cordoned}})
}

// EvictManager asks Kubernetes to evict the pod of a node's instance manager, as a drain does; refused is the error of a disruption
// budget.
func (w *World) EvictManager(ctx context.Context, node, dataEngine string) (refused string, err error) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: w.InstanceManager(node, dataEngine), Namespace: w.Namespace}}
	err = w.Admin.SubResource("eviction").Create(ctx, pod,
		&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}})
	if apierrors.IsTooManyRequests(err) {
		return err.Error(), nil
	}
	if err != nil {
		return "", fmt.Errorf("evicting pod %s: %w", pod.Name, err)
	}
	return "", nil
}

func (w *World) setNode(ctx context.Context, node, state string) error {
	return w.ctl(ctx, http.MethodPost, "/v1/nodes/"+node+"/state", map[string]string{"state": state}, nil)
}

// RestartManager ends the instance manager's process and starts it again in the same pod.
func (w *World) RestartManager(ctx context.Context, node, engine string) error {
	return w.ctl(ctx, http.MethodPost, "/v1/pods/"+node+":"+engine+"/restart", map[string]any{}, nil)
}

// ReplacePod deletes the instance manager's pod; im-monitor creates another one.
func (w *World) ReplacePod(ctx context.Context, node, engine string) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: w.InstanceManager(node, engine), Namespace: w.Namespace}}
	if err := w.Admin.Delete(ctx, pod); err != nil {
		return fmt.Errorf("deleting the pod of the instance manager: %w", err)
	}
	return nil
}

// Nudge lets the instance manager emit events: an instance is created and deleted.
func (w *World) Nudge(ctx context.Context, manager string) error {
	_, engine := w.place(manager)
	i := Instance{InstanceManager: manager, Name: "nudge-r-" + randomID(), Type: v1beta2.InstanceTypeReplica, DataEngine: engine,
		Volume: "nudge"}
	if _, err := w.StartInstance(ctx, i); err != nil {
		return err
	}
	return w.StopInstance(ctx, manager, i.Name, true)
}

// Disk is a disk of a node.
type Disk struct {
	UUID string `json:"uuid"`
	Path string `json:"path"`
}

// Disk is the node's disk for the data engine.
func (w *World) Disk(ctx context.Context, node, dataEngine string) (Disk, error) {
	if dataEngine == v1beta2.DataEngineV1 {
		return Disk{UUID: "disk-of-" + node, Path: "/var/lib/longhorn/"}, nil
	}
	n := w.NodeObject(node)
	if err := w.Get(ctx, node, n); err != nil {
		return Disk{}, err
	}
	known := n.Status.DiskStatus[diskName]
	if known.DiskUUID == "" {
		return Disk{}, fmt.Errorf("disk %s of node %s is not loaded yet", diskName, node)
	}
	return Disk{UUID: known.DiskUUID, Path: known.DiskPath}, nil
}

// Blink attaches the volume and detaches it in its objects at once, so that the instances are stopped too late.
func (w *World) Blink(ctx context.Context, v *Volume, node string) error {
	for _, name := range v.Replicas {
		if err := w.StartReplica(ctx, name); err != nil {
			return err
		}
	}
	if err := w.StartEngine(ctx, v, node); err != nil {
		return err
	}
	engine := &v1beta2.Engine{}
	if err := w.Get(ctx, v.Engine, engine); err != nil {
		return err
	}
	if err := w.StopObjectOnly(ctx, engine); err != nil {
		return err
	}
	for _, name := range v.Replicas {
		replica := &v1beta2.Replica{}
		if err := w.Get(ctx, name, replica); err != nil {
			return err
		}
		if err := w.StopObjectOnly(ctx, replica); err != nil {
			return err
		}
	}
	return w.patchVolume(ctx, v, "", "detached")
}

// StopEngine stops the volume's engine, both the object and the instance.
func (w *World) StopEngine(ctx context.Context, v *Volume) error {
	engine := &v1beta2.Engine{}
	if err := w.Get(ctx, v.Engine, engine); err != nil {
		return err
	}
	return w.stop(ctx, engine, engine.Status.InstanceManagerName, v.Engine, true, true)
}

// Listed are the volume's instances that the node lists, in any state.
func (w *World) Listed(ctx context.Context, v *Volume, node string) ([]Stale, error) {
	return w.Stale(ctx, v, node)
}

// Quiet waits until the controllers have made no write and no call for a second.
func (w *World) Quiet(ctx context.Context, within time.Duration) error {
	last, since := -1, time.Now()
	return w.Wait(ctx, "a second without a write or call", within, func(context.Context) (string, error) {
		now := w.activity()
		if now != last {
			last, since = now, time.Now()
		}
		if quiet := time.Since(since); quiet < time.Second {
			return fmt.Sprintf("the last write or call was %s ago", quiet.Round(time.Millisecond)), nil
		}
		return "", nil
	})
}

// resetDataPlane ends every misbehaviour and every workload, reconnects every node and ends every instance.
func (w *World) resetDataPlane(ctx context.Context) error {
	if err := w.Heal(ctx); err != nil {
		return err
	}
	if err := w.ctl(ctx, http.MethodDelete, "/v1/writers", nil, nil); err != nil {
		return err
	}
	var list []Running
	for _, node := range w.options.Nodes {
		if err := w.JoinNode(ctx, node); err != nil {
			return err
		}
	}
	if err := w.ctl(ctx, http.MethodGet, "/v1/instances", nil, &list); err != nil {
		return err
	}
	// The order of the ends does not matter: no volume is attached any more. A real process takes a second to end.
	group, groupCtx := errgroup.WithContext(ctx)
	for _, r := range list {
		path := fmt.Sprintf("/v1/instances/%s/%s?destroy=true", r.Node, r.Name)
		group.Go(func() error { return w.ctl(groupCtx, http.MethodDelete, path, nil, nil) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return w.markJournal(ctx)
}

// NodeObject is the Longhorn Node of that name, to be patched.
func (w *World) NodeObject(name string) *v1beta2.Node {
	node := &v1beta2.Node{}
	node.Name, node.Namespace = name, w.Namespace
	return node
}
