package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"drover.dev/drover/shared/api/v1beta2"
)

// Sizes of simulated disks.
const (
	diskBytes = int64(1) << 40
	freeBytes = diskBytes / 10 * 9
)

var longhornNodes = v1beta2.GroupVersion.WithResource("nodes")

// watchDisks queues the Longhorn nodes and the Replicas that change. A cluster without their CRD has no disks; it is asked again now and
// then.
func (k *Kubelet) watchDisks(ctx context.Context) error {
	for {
		_, err := k.dynamic.Resource(longhornNodes).Namespace(k.options.Namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err == nil {
			break
		}
		if !apierrors.IsNotFound(err) && ctx.Err() == nil {
			k.options.Log.Warn("reading Longhorn nodes", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-k.options.Clock.After(time.Second):
		}
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(k.dynamic, 0, k.options.Namespace, nil)
	informer := factory.ForResource(longhornNodes).Informer()
	if _, err := informer.AddEventHandler(handler(k.diskQueue)); err != nil {
		return fmt.Errorf("watching Longhorn nodes: %w", err)
	}
	k.disks.Store(informer.GetStore())
	if k.options.Directories != nil && !k.options.LeaveDisks {
		replicas := factory.ForResource(longhornReplicas).Informer()
		if _, err := replicas.AddEventHandler(handler(k.dirQueue)); err != nil {
			return fmt.Errorf("watching Replicas: %w", err)
		}
		k.replicas.Store(replicas.GetStore())
	}
	factory.Start(ctx.Done())
	<-ctx.Done()
	factory.Shutdown()
	return nil
}

// reconcileDisks fills in the v1 disks of a Longhorn node's status as a node agent does.
func (k *Kubelet) reconcileDisks(ctx context.Context, name string) error {
	if _, simulated := k.options.Machine.NodeState(name); !simulated {
		return nil
	}
	store, ok := k.disks.Load().(cache.Store)
	if !ok {
		return nil
	}
	object, exists, err := store.GetByKey(k.options.Namespace + "/" + name)
	if err != nil || !exists {
		return err
	}
	raw, ok := object.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("reading Longhorn node %s: it is a %T", name, object)
	}
	var node v1beta2.Node
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw.Object, &node); err != nil {
		return fmt.Errorf("reading Longhorn node %s: %w", name, err)
	}
	if k.options.LeaveDisks {
		return nil
	}
	if k.options.DefaultDisks && len(node.Spec.Disks) == 0 && node.DeletionTimestamp == nil {
		return k.giveDisks(ctx, &node)
	}
	changes := diskChanges(&node)
	if len(changes) == 0 {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"diskStatus": changes}})
	if err != nil {
		return fmt.Errorf("encoding the disks of node %s: %w", name, err)
	}
	_, err = k.dynamic.Resource(longhornNodes).Namespace(k.options.Namespace).
		Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("writing the disks of node %s: %w", name, err)
	}
	return nil
}

// defaultDevice is the block device that every simulated node has.
const defaultDevice = "/dev/disk-1"

// defaultDisks returns the disks of a node that has none: one per data engine.
func (k *Kubelet) defaultDisks() map[string]v1beta2.DiskSpec {
	disks := map[string]v1beta2.DiskSpec{
		"default-disk": {AllowScheduling: true, DiskType: "filesystem", Path: "/var/lib/longhorn/"},
	}
	if k.options.Devices != nil {
		disks["disk-1"] = v1beta2.DiskSpec{AllowScheduling: true, DiskType: "block", Path: defaultDevice, Initialize: v1beta2.InitializeNew}
	}
	return disks
}

// giveDisks gives a node its default disks, as the person does who reports that the blank device may be formatted.
func (k *Kubelet) giveDisks(ctx context.Context, node *v1beta2.Node) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": node.ResourceVersion},
		"spec": map[string]any{"disks": k.defaultDisks()}})
	if err != nil {
		return fmt.Errorf("encoding the default disks of node %s: %w", node.Name, err)
	}
	_, err = k.dynamic.Resource(longhornNodes).Namespace(k.options.Namespace).Patch(ctx, node.Name, types.MergePatchType, patch,
		metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("writing the default disks of node %s: %w", node.Name, err)
	}
	return nil
}

// diskChanges are the v1 disks that the status lacks, and nil for those that the spec has no more.
func diskChanges(node *v1beta2.Node) map[string]any {
	changes := map[string]any{}
	for key, disk := range node.Spec.Disks {
		known, ok := node.Status.DiskStatus[key]
		if disk.DiskType == "block" || ok && known.DiskUUID != "" && known.DiskPath == disk.Path {
			continue
		}
		changes[key] = filesystemDisk(node.Name, key, disk.Path)
	}
	for key, disk := range node.Status.DiskStatus {
		if _, wanted := node.Spec.Disks[key]; !wanted && disk.DiskType == "filesystem" {
			changes[key] = nil
		}
	}
	return changes
}

// filesystemDisk is the status of a healthy v1 disk. Its UUID follows from its place, as it would from a file on it.
func filesystemDisk(node, key, path string) map[string]any {
	now := metav1.Now().UTC().Format(time.RFC3339)
	condition := func(kind, reason string) map[string]any {
		return map[string]any{"type": kind, "status": "True", "lastTransitionTime": now, "lastProbeTime": "",
			"reason": reason, "message": "The simulated disk " + key + " is there."}
	}
	return map[string]any{
		"diskName": key, "diskPath": path, "diskType": "filesystem", "filesystemType": "ext2/ext3",
		"diskUUID":       uuid.NewSHA1(uuid.NameSpaceOID, []byte(node+"/"+key+path)).String(),
		"storageMaximum": diskBytes, "storageAvailable": freeBytes, "storageScheduled": 0,
		"conditions": []any{condition(v1beta2.DiskReady, v1beta2.ReasonDiskReady),
			condition(v1beta2.DiskSchedulable, v1beta2.ReasonSchedulable)},
	}
}
