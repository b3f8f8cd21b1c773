package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// chain is how many snapshots each volume has.
const chain = 30

// storedVolume and storedSnapshot return names as long as those of a provisioner and a sidecar.
func storedVolume(i int) string { return fmt.Sprintf("pvc-%08x-8f3a-4c61-9d0e-2b7715c4a9e1", i) }

func storedSnapshot(i, n int) string {
	return fmt.Sprintf("snapshot-%08x-51c2-4b7f-a6d3-9e04%08x", i, n)
}

// storedCluster is what a stored cluster has: attached volumes, with so many replicas and snapshots each.
type storedCluster struct{ volumes, replicas, chain int }

// snapshotPopulation is that of the group snapshot.
func snapshotPopulation(volumes int) storedCluster {
	return storedCluster{volumes: volumes, replicas: 3, chain: chain}
}

// stored is the etcd directory of a cluster of attached volumes whose snapshots were taken long ago. Everything in it is
// written by the benchmark, as the controllers leave it. It is created if it does not exist.
func (p storedCluster) stored(ctx context.Context, r *report) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache directory: %w", err)
	}
	dir := filepath.Join(base, "drover", fmt.Sprintf("snapshots-%d-%d-%d", p.volumes, p.replicas, p.chain))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	staging, err := os.MkdirTemp(filepath.Dir(dir), "populating-")
	if err != nil {
		return "", fmt.Errorf("creating a directory for the population: %w", err)
	}
	r.logf("  creating the population once: %d volumes with %d replicas and %d snapshots each", p.volumes,
		p.replicas, p.chain)
	w, err := world.Start(ctx, world.Options{Nodes: names(1), Attach: true, Snapshots: true, NoControllers: true, DataDir: staging})
	if err != nil {
		_ = os.RemoveAll(staging)
		return "", err
	}
	began := time.Now()
	err = world.Each(ctx, p.volumes, func(ctx context.Context, i int) error { return p.store(ctx, w, i) })
	if closed := w.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.RemoveAll(staging)
		return "", err
	}
	r.logf("  created it in %s", time.Since(began).Round(time.Second))
	if err := os.Rename(staging, dir); err != nil {
		return "", fmt.Errorf("keeping the population: %w", err)
	}
	return dir, nil
}

// store creates one attached volume with all its objects.
func (p storedCluster) store(ctx context.Context, w *world.World, i int) error {
	host := fmt.Sprintf("node-%d", i%hosts+1)
	v := &v1beta2.Volume{ObjectMeta: storedMeta(w, storedVolume(i), nil)}
	v.Labels = map[string]string{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(v.Name)}
	v.Spec = v1beta2.VolumeSpec{DataEngine: v1beta2.DataEngineV1, Size: world.VolumeSize, NumberOfReplicas: p.replicas, NodeID: host,
		Frontend:   "blockdev",
		AccessMode: v1beta2.AccessModeReadWriteOnce, Image: world.EngineImage}
	if err := w.Admin.Create(ctx, v); err != nil {
		return fmt.Errorf("creating volume %s: %w", v.Name, err)
	}
	if err := w.SetStatus(ctx, v, map[string]any{"state": v1beta2.VolumeStateAttached, "robustness": v1beta2.VolumeRobustnessHealthy,
		"currentNodeID": host}); err != nil {
		return err
	}
	if err := storeTicket(ctx, w, v, host); err != nil {
		return err
	}
	for n := range p.replicas {
		replica := &v1beta2.Replica{ObjectMeta: storedMeta(w, fmt.Sprintf("%s-r-%08x", v.Name, n), v)}
		replica.Spec = v1beta2.ReplicaSpec{DataEngine: v.Spec.DataEngine, VolumeName: v.Name, NodeID: fmt.Sprintf("node-%d", (i+n)%hosts+1),
			EngineName: v.Name + "-e-0", Active: true, DesireState: v1beta2.InstanceStateRunning, HealthyAt: storedTime(0)}
		if err := w.Admin.Create(ctx, replica); err != nil {
			return fmt.Errorf("creating replica %s: %w", replica.Name, err)
		}
	}
	if err := p.storeEngine(ctx, w, i, v, host); err != nil {
		return err
	}
	for n := range p.chain {
		if err := p.storeSnapshot(ctx, w, v, i, n); err != nil {
			return err
		}
	}
	return nil
}

func storedMeta(w *world.World, name string, owner *v1beta2.Volume) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Name: name, Namespace: w.Namespace, Finalizers: []string{v1beta2.Finalizer}}
	if owner != nil {
		meta.Labels = map[string]string{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(owner.Name)}
		meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1beta2.GroupVersion.String(), Kind: "Volume", Name: owner.Name,
			UID: owner.UID}}
	}
	return meta
}

func storeTicket(ctx context.Context, w *world.World, v *v1beta2.Volume, host string) error {
	attachment := &v1beta2.VolumeAttachment{ObjectMeta: storedMeta(w, v.Name, v)}
	id := "csi-" + v.Name
	attachment.Spec = v1beta2.VolumeAttachmentSpec{Volume: v.Name, AttachmentTickets: map[string]v1beta2.AttachmentTicket{
		id: {ID: id, Type: v1beta2.AttacherCSI, NodeID: host, Generation: 1}}}
	if err := w.Admin.Create(ctx, attachment); err != nil {
		return fmt.Errorf("creating the VolumeAttachment of %s: %w", v.Name, err)
	}
	return w.SetStatus(ctx, attachment, map[string]any{"attachmentTicketStatuses": map[string]any{id: map[string]any{"id": id,
		"satisfied": true, "generation": 1,
		"conditions": []any{storedCondition(v1beta2.TicketSatisfied, v1beta2.ReasonSatisfied, "The volume is attached.", 0)}}}})
}

func (p storedCluster) storeEngine(ctx context.Context, w *world.World, i int, v *v1beta2.Volume, host string) error {
	engine := &v1beta2.Engine{ObjectMeta: storedMeta(w, v.Name+"-e-0", v)}
	engine.Spec = v1beta2.EngineSpec{DataEngine: v.Spec.DataEngine, VolumeName: v.Name, VolumeSize: world.VolumeSize, Active: true,
		NodeID:   host,
		Frontend: "blockdev", DesireState: v1beta2.InstanceStateRunning}
	if err := w.Admin.Create(ctx, engine); err != nil {
		return fmt.Errorf("creating engine %s: %w", engine.Name, err)
	}
	list, modes := map[string]any{}, map[string]any{}
	for n := range p.chain {
		list[storedSnapshot(i, n)] = p.storedInfo(i, n)
	}
	list["volume-head"] = map[string]any{"name": "volume-head", "parent": storedSnapshot(i, p.chain-1), "created": storedTime(p.chain),
		"size": "4096"}
	for n := range p.replicas {
		modes[fmt.Sprintf("%s-r-%08x", v.Name, n)] = v1beta2.ReplicaModeRW
	}
	return w.SetStatus(ctx, engine, map[string]any{"currentState": v1beta2.InstanceStateRunning, "started": true, "ownerID": host,
		"snapshots": list, "replicaModeMap": modes})
}

func (p storedCluster) storedInfo(i, n int) map[string]any {
	info := map[string]any{"name": storedSnapshot(i, n), "created": storedTime(n), "size": strconv.Itoa(4096 * n), "usercreated": true,
		"children": map[string]any{p.storedChild(i, n): true}}
	if n > 0 {
		info["parent"] = storedSnapshot(i, n-1)
	}
	return info
}

func (p storedCluster) storedChild(i, n int) string {
	if n == p.chain-1 {
		return "volume-head"
	}
	return storedSnapshot(i, n+1)
}

func (p storedCluster) storeSnapshot(ctx context.Context, w *world.World, v *v1beta2.Volume, i, n int) error {
	s := &v1beta2.Snapshot{ObjectMeta: storedMeta(w, storedSnapshot(i, n), v),
		Spec: v1beta2.SnapshotSpec{Volume: v.Name, CreateSnapshot: true}}
	if err := w.Admin.Create(ctx, s); err != nil {
		return fmt.Errorf("creating snapshot %s: %w", s.Name, err)
	}
	status := map[string]any{
		"children": map[string]any{p.storedChild(i, n): true}, "creationTime": storedTime(n), "requestedTime": storedTime(n),
		"readyToUse": true, "userCreated": true,
		"restoreSize": world.VolumeSize, "size": 4096 * n, "observedGeneration": s.Generation, "conditions": []any{
			storedCondition(v1beta2.SnapshotReady, v1beta2.ReasonReady, "It can be used.", n),
			storedCondition(v1beta2.SnapshotProvisioned, v1beta2.ReasonTaken, "The engine took the snapshot.", n),
		},
	}
	if n > 0 {
		status["parent"] = storedSnapshot(i, n-1)
	}
	return w.SetStatus(ctx, s, status)
}

func storedCondition(kind, reason, message string, n int) map[string]any {
	return map[string]any{"type": kind, "status": v1beta2.ConditionTrue, "reason": reason, "message": message,
		"lastTransitionTime": storedTime(n), "lastProbeTime": storedTime(n)}
}

// storedTime is when the n-th snapshot of a volume was taken.
func storedTime(n int) string {
	return time.Date(2026, 1, 1+n, 2, 0, 0, 0, time.UTC).Format(time.RFC3339)
}
