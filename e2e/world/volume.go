package world

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// Volume is a volume that the World created: the names of its objects.
type Volume struct {
	Name, DataEngine, Engine string
	Replicas                 []string
}

// VolumeSize is the size of every volume that a World creates, in bytes.
const VolumeSize = 1 << 30

// CreateVolume creates the Volume, its Engine on engineNode and one Replica on each of the replica nodes, starts their
// instances and writes their status. An empty engineNode creates a detached volume: v2 replicas then exist as data, as
// after every detachment.
func (w *World) CreateVolume(ctx context.Context, name, dataEngine, engineNode string, replicaNodes ...string) (*Volume, error) {
	if err := served(dataEngine); err != nil {
		return nil, err
	}
	v := &Volume{Name: name, DataEngine: dataEngine, Engine: name + "-e-0"}
	object := &v1beta2.Volume{ObjectMeta: w.meta(name, nil)}
	object.Labels = map[string]string{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(name)}
	object.Spec = v1beta2.VolumeSpec{DataEngine: dataEngine, Size: VolumeSize, NumberOfReplicas: len(replicaNodes), NodeID: engineNode,
		Frontend: "blockdev", AccessMode: "rwo"}
	if err := w.Admin.Create(ctx, object); err != nil {
		return nil, fmt.Errorf("creating volume %s: %w", name, err)
	}
	engine := &v1beta2.Engine{ObjectMeta: w.meta(v.Engine, object)}
	engine.Spec = v1beta2.EngineSpec{DataEngine: dataEngine, VolumeName: name, VolumeSize: VolumeSize, Active: true, Frontend: "blockdev",
		DesireState: v1beta2.InstanceStateStopped}
	if err := w.Admin.Create(ctx, engine); err != nil {
		return nil, fmt.Errorf("creating engine %s: %w", v.Engine, err)
	}
	if err := w.setStatus(ctx, engine, map[string]any{"currentState": v1beta2.InstanceStateStopped}); err != nil {
		return nil, err
	}
	for _, node := range replicaNodes {
		if _, err := w.AddReplica(ctx, v, node); err != nil {
			return nil, err
		}
	}
	if engineNode != "" {
		return v, w.StartEngine(ctx, v, engineNode)
	}
	return v, w.Detach(ctx, v)
}

// AddReplica creates one more Replica of the volume on the node and starts it.
func (w *World) AddReplica(ctx context.Context, v *Volume, node string) (string, error) {
	parent := &v1beta2.Volume{}
	if err := w.Get(ctx, v.Name, parent); err != nil {
		return "", err
	}
	disk, err := w.Disk(ctx, node, v.DataEngine)
	if err != nil {
		return "", err
	}
	name := v.Name + "-r-" + randomID()
	replica := &v1beta2.Replica{ObjectMeta: w.meta(name, parent)}
	replica.Labels[v1beta2.LabelNode], replica.Labels[v1beta2.LabelDiskUUID] = node, disk.UUID
	replica.Spec = v1beta2.ReplicaSpec{DataEngine: v.DataEngine, VolumeName: v.Name, EngineName: v.Engine, VolumeSize: VolumeSize,
		NodeID: node, DiskID: disk.UUID, DiskPath: disk.Path, DataDirectoryName: v.Name + "-" + randomID(), Active: true,
		DesireState: v1beta2.InstanceStateStopped, HealthyAt: now(), LastHealthyAt: now()}
	if err := w.Admin.Create(ctx, replica); err != nil {
		return "", fmt.Errorf("creating replica %s: %w", name, err)
	}
	v.Replicas = append(v.Replicas, name)
	return name, w.StartReplica(ctx, name)
}

// StartReplica lets the replica run on its node.
func (w *World) StartReplica(ctx context.Context, name string) error {
	replica := &v1beta2.Replica{}
	if err := w.Get(ctx, name, replica); err != nil {
		return err
	}
	if err := w.patch(ctx, replica, map[string]any{"spec": map[string]any{"desireState": v1beta2.InstanceStateRunning}}); err != nil {
		return err
	}
	running, err := w.start(ctx, Instance{Name: name, Type: v1beta2.InstanceTypeReplica, DataEngine: replica.Spec.DataEngine,
		InstanceManager: w.InstanceManager(replica.Spec.NodeID, replica.Spec.DataEngine), Volume: replica.Spec.VolumeName,
		DiskUUID: replica.Spec.DiskID})
	if err != nil {
		return err
	}
	return w.setStatus(ctx, replica, running.status(w.InstanceManager(replica.Spec.NodeID, replica.Spec.DataEngine)))
}

// StartEngine lets the volume's Engine run on the node, over those of its replicas that run.
func (w *World) StartEngine(ctx context.Context, v *Volume, node string) error {
	addresses, modes := map[string]string{}, map[string]any{}
	for _, name := range v.Replicas {
		replica := &v1beta2.Replica{}
		if err := w.Get(ctx, name, replica); err != nil {
			return err
		}
		if replica.Status.CurrentState == v1beta2.InstanceStateRunning {
			addresses[name] = net.JoinHostPort(replica.Status.StorageIP, strconv.Itoa(replica.Status.Port))
			modes[name] = "RW"
		}
	}
	engine := &v1beta2.Engine{}
	if err := w.Get(ctx, v.Engine, engine); err != nil {
		return err
	}
	if err := w.patch(ctx, engine, map[string]any{
		"metadata": map[string]any{"labels": map[string]any{v1beta2.LabelNode: node}},
		"spec": map[string]any{"desireState": v1beta2.InstanceStateRunning, "nodeID": node,
			"replicaAddressMap": exactly(engine.Spec.ReplicaAddressMap, addresses)},
	}); err != nil {
		return err
	}
	manager := w.InstanceManager(node, v.DataEngine)
	running, err := w.start(ctx, Instance{Name: v.Engine, Type: v1beta2.InstanceTypeEngine, DataEngine: v.DataEngine,
		InstanceManager: manager, Volume: v.Name, Replicas: addresses})
	if err != nil {
		return err
	}
	status := running.status(manager)
	status["replicaModeMap"] = exactly(engine.Status.ReplicaModeMap, modes)
	status["currentReplicaAddressMap"] = exactly(engine.Status.CurrentReplicaAddressMap, addresses)
	if err := w.setStatus(ctx, engine, status); err != nil {
		return err
	}
	return w.patchVolume(ctx, v, node, "attached")
}

// Detach stops the volume as attach-controller would: engine, then replicas; v2 replicas stay as data.
func (w *World) Detach(ctx context.Context, v *Volume) error {
	engine := &v1beta2.Engine{}
	if err := w.Get(ctx, v.Engine, engine); err != nil {
		return err
	}
	if err := w.stop(ctx, engine, engine.Status.InstanceManagerName, v.Engine, true, true); err != nil {
		return err
	}
	for _, name := range v.Replicas {
		replica := &v1beta2.Replica{}
		if err := w.Get(ctx, name, replica); err != nil {
			return err
		}
		if err := w.stop(ctx, replica, replica.Status.InstanceManagerName, name, false, true); err != nil {
			return err
		}
	}
	return w.patchVolume(ctx, v, "", "detached")
}

// StopObjectOnly sets the object, an Engine or a Replica, to stopped, and leaves its instance running: the state of a
// detachment in which the instance was not stopped in time.
func (w *World) StopObjectOnly(ctx context.Context, object client.Object) error {
	return w.stop(ctx, object, "", object.GetName(), false, false)
}

func (w *World) stop(ctx context.Context, object client.Object, manager, name string, cleanup, really bool) error {
	if err := w.patch(ctx, object, map[string]any{"spec": map[string]any{"desireState": v1beta2.InstanceStateStopped}}); err != nil {
		return err
	}
	if really && manager != "" {
		if err := w.StopInstance(ctx, manager, name, cleanup); err != nil {
			return err
		}
	}
	return w.setStatus(ctx, object, stoppedStatus())
}

// Disown deletes the object, an Engine, Replica or Volume, without its finalizers; its instance stays.
func (w *World) Disown(ctx context.Context, object client.Object) error {
	if err := w.Admin.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting %s: %w", object.GetName(), err)
	}
	return client.IgnoreNotFound(w.patch(ctx, object, map[string]any{"metadata": map[string]any{"finalizers": nil}}))
}

// Engine and Replica objects of a volume.
func (w *World) meta(name string, parent *v1beta2.Volume) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Name: name, Namespace: w.Namespace, Finalizers: []string{v1beta2.Finalizer}}
	if parent != nil {
		meta.Labels = map[string]string{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(parent.Name)}
		meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1beta2.GroupVersion.String(), Kind: "Volume", Name: parent.Name,
			UID: parent.UID}}
	}
	return meta
}

func (w *World) patchVolume(ctx context.Context, v *Volume, node, state string) error {
	object := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: v.Name, Namespace: w.Namespace}}
	if err := w.patch(ctx, object, map[string]any{"spec": map[string]any{"nodeID": node}}); err != nil {
		return err
	}
	return w.setStatus(ctx, object, map[string]any{"state": state, "currentNodeID": node, "robustness": "healthy"})
}

// exactly is the merge patch that changes one map into another: removed keys become null.
func exactly[V any](from map[string]string, to map[string]V) map[string]any {
	out := map[string]any{}
	for key := range from {
		out[key] = nil
	}
	for key, value := range to {
		out[key] = value
	}
	return out
}

func stoppedStatus() map[string]any {
	return map[string]any{"currentState": v1beta2.InstanceStateStopped, "started": false, "starting": false,
		"instanceManagerName": "", "ip": "", "storageIP": "", "port": 0, "uuid": ""}
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

func randomID() string {
	var id [4]byte
	_, _ = rand.Read(id[:])
	return hex.EncodeToString(id[:])
}
