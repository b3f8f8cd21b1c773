package world

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/managerimage"
)

// blankDevice is the device that every simulated node has, and blankDisk its key among the disks of the node.
const blankDevice, blankDisk = "/dev/disk-1", "disk-1"

// Host returns the directory that is the root of a node's file systems, in a World with Options.Disks.
func (w *World) Host(node string) string { return filepath.Join(w.nodesDirectory(), node, "host") }

// startDisks starts disk-controller on every node.
func (w *World) startDisks(ctx context.Context) error {
	for _, node := range w.options.Nodes {
		if _, err := w.StartDiskController(ctx, node); err != nil {
			return err
		}
	}
	w.options.Log("%s runs on each of %d nodes, each with its own token", DiskController, len(w.options.Nodes))
	return nil
}

// StartDiskController starts disk-controller on a node, with the token of a pod of that node. The node has the directory of its default
// disk, as the host path of the DaemonSet would make it.
func (w *World) StartDiskController(ctx context.Context, node string) (*Process, error) {
	if err := os.MkdirAll(filepath.Join(w.Host(node), managerimage.ControlPath), 0o755); err != nil {
		return nil, fmt.Errorf("making the default disk of %s: %w", node, err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: DiskController + "-" + node,
		Labels: map[string]string{"app.kubernetes.io/name": DiskController}},
		Spec: corev1.PodSpec{NodeName: node, ServiceAccountName: DiskController,
			Containers: []corev1.Container{{Name: DiskController, Image: "drover/" + DiskController}}}}
	if err := w.Admin.Create(ctx, pod); client.IgnoreAlreadyExists(err) != nil {
		return nil, fmt.Errorf("creating the pod of %s on %s: %w", DiskController, node, err)
	}
	return w.startController(ctx, DiskController, "-"+node, pod, "--node="+node, "--root="+w.Host(node))
}

// giveDevices waits for the default disk of every node, and adds the node's blank device as a v2 disk, as the person does who says that it
// may be formatted.
func (w *World) giveDevices(ctx context.Context) error {
	for _, node := range w.options.Nodes {
		n := w.NodeObject(node)
		err := w.Wait(ctx, "the default disk of "+node, time.Minute, func(ctx context.Context) (string, error) {
			if err := w.Admin.Get(ctx, client.ObjectKeyFromObject(n), n); err != nil {
				return "", err
			}
			for _, disk := range n.Status.DiskStatus {
				if conditions.Reason(disk.Conditions, v1beta2.DiskReady) == v1beta2.ReasonDiskReady {
					return "", nil
				}
			}
			return fmt.Sprintf("its disks are %v", n.Spec.Disks), nil
		})
		if err != nil {
			return err
		}
		if IsReal() {
			continue
		}
		disks := map[string]any{blankDisk: v1beta2.DiskSpec{AllowScheduling: true, DiskType: v1beta2.DiskTypeBlock, Path: blankDevice,
			Initialize: v1beta2.InitializeNew}}
		if err := w.patch(ctx, n, map[string]any{"spec": map[string]any{"disks": disks}}); err != nil {
			return fmt.Errorf("adding the device of %s: %w", node, err)
		}
	}
	return nil
}
