package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/e2e/csiplugin"
	"drover.dev/drover/e2e/world"
)

// kubelet plays the kubelet of a node: it asks the CSI plugin there to stage and publish volumes for pods.
type kubelet struct {
	world  *world.World
	node   string
	plugin *csiplugin.Plugin
	calls  csi.NodeClient
}

func newKubelet(w *world.World, node string, plugin *csiplugin.Plugin) (*kubelet, func(), error) {
	connection, err := grpc.NewClient("unix://"+plugin.Socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to the plugin of %s: %w", node, err)
	}
	return &kubelet{world: w, node: node, plugin: plugin, calls: csi.NewNodeClient(connection)},
		func() { _ = connection.Close() }, nil // it ends with the process at the latest
}

// block is the capability of a claim that wants a block device.
var block = &csi.VolumeCapability{AccessType: &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}},
	AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER}}

func (k *kubelet) stagingPath(volume string) string {
	return filepath.Join(k.world.Dir, k.node, "staging", volume)
}

func (k *kubelet) targetPath(volume string) string {
	return filepath.Join(k.world.Dir, k.node, "pods", volume)
}

// mount stages and publishes the volume of a PersistentVolume, which has to be attached, and checks that the pod would see its device.
func (k *kubelet) mount(ctx context.Context, pv *corev1.PersistentVolume) error {
	volume := pv.Spec.CSI.VolumeHandle
	if err := k.plugin.MakeDevice(volume); err != nil {
		return err
	}
	for _, dir := range []string{k.stagingPath(volume), filepath.Dir(k.targetPath(volume))} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making a directory of the kubelet: %w", err)
		}
	}
	published := map[string]string{}
	if _, err := k.calls.NodeStageVolume(ctx, &csi.NodeStageVolumeRequest{VolumeId: volume, StagingTargetPath: k.stagingPath(volume),
		VolumeCapability: block, PublishContext: published, VolumeContext: pv.Spec.CSI.VolumeAttributes}); err != nil {
		return fmt.Errorf("NodeStageVolume of %s on %s: %w", volume, k.node, err)
	}
	if _, err := k.calls.NodePublishVolume(ctx, &csi.NodePublishVolumeRequest{VolumeId: volume, StagingTargetPath: k.stagingPath(volume),
		TargetPath: k.targetPath(volume), VolumeCapability: block, PublishContext: published,
		VolumeContext: pv.Spec.CSI.VolumeAttributes}); err != nil {
		return fmt.Errorf("NodePublishVolume of %s on %s: %w", volume, k.node, err)
	}
	seen, err := os.ReadFile(k.plugin.Inside(k.targetPath(volume)))
	if err != nil || string(seen) != volume {
		return fmt.Errorf("the pod on %s sees %q in place of the device of %s (%w)", k.node, seen, volume, err)
	}
	return k.world.MountOn(ctx, k.node, volume)
}

// grow asks the plugin to grow a volume on the node, as a kubelet does once the volume was expanded.
func (k *kubelet) grow(ctx context.Context, volume string, size int64) error {
	_, err := k.calls.NodeExpandVolume(ctx, &csi.NodeExpandVolumeRequest{VolumeId: volume, VolumePath: k.targetPath(volume),
		StagingTargetPath: k.stagingPath(volume), VolumeCapability: block, CapacityRange: &csi.CapacityRange{RequiredBytes: size}})
	if err != nil {
		return fmt.Errorf("NodeExpandVolume of %s on %s: %w", volume, k.node, err)
	}
	return nil
}

// unmount ends what mount did, as when the pod has ended.
func (k *kubelet) unmount(ctx context.Context, volume string) error {
	if _, err := k.calls.NodeUnpublishVolume(ctx, &csi.NodeUnpublishVolumeRequest{VolumeId: volume,
		TargetPath: k.targetPath(volume)}); err != nil {
		return fmt.Errorf("NodeUnpublishVolume of %s on %s: %w", volume, k.node, err)
	}
	if _, err := k.calls.NodeUnstageVolume(ctx, &csi.NodeUnstageVolumeRequest{VolumeId: volume,
		StagingTargetPath: k.stagingPath(volume)}); err != nil {
		return fmt.Errorf("NodeUnstageVolume of %s on %s: %w", volume, k.node, err)
	}
	if seen, err := os.ReadFile(k.plugin.Inside(k.targetPath(volume))); err == nil && string(seen) == volume {
		return fmt.Errorf("the device of %s is still mounted on %s", volume, k.node)
	}
	if err := k.plugin.RemoveDevice(volume); err != nil {
		return err
	}
	return k.world.MountOn(ctx, k.node)
}
