package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/gateway"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// claimed is the volume of the claim, kept the text that is written into it.
const claimed, kept = "pvc-demo", "before the pod moved"

// claims takes a claim's volume through its life by the calls that Longhorn's CSI plugin sends to api-gateway. No kubelet and no plugin
// run here: mounts are left out.
func (d *demo) claims(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("A claim's way, by the calls of Longhorn's CSI plugin to api-gateway")
	calls := gateway.Client{World: w, Within: patience}
	for _, step := range []struct {
		title string
		do    func(context.Context) (string, error)
	}{
		{"CreateVolume: volume " + claimed + " is created", func(ctx context.Context) (string, error) {
			err := calls.Create(ctx, claimed, world.FullDataEngine(), nil)
			return "as csi-provisioner requests it", errors.Join(err, w.PersistentVolume(ctx, claimed))
		}},
		{"a pod on " + spare + " wants it: attach-controller serves Kubernetes' VolumeAttachment", func(ctx context.Context) (string, error) {
			return "no csi-attacher runs", d.attachForKubernetes(ctx, spare)
		}},
		{"NodeStageVolume and NodePublishVolume ask for it on " + spare, func(ctx context.Context) (string, error) {
			device, err := d.readForMount(ctx, calls, spare)
			return "ready, as " + device + "; what is mounted then needs kernel devices", err
		}},
		{"the pod writes and moves to " + helper, d.moveClaimed},
		{"ControllerExpandVolume: it has twice its size", func(ctx context.Context) (string, error) {
			return "while it is attached", calls.Expand(ctx, claimed, 2*world.VolumeSize)
		}},
		{"the pod ends; DeleteVolume: the volume is deleted", func(ctx context.Context) (string, error) {
			if err := d.detachForKubernetes(ctx, helper); err != nil {
				return "", err
			}
			return "", calls.Remove(ctx, claimed)
		}},
		{"nothing is left of it", d.confirmClaimedIsGone},
	} {
		if err := s.step(ctx, step.title, step.do); err != nil {
			return err
		}
	}
	return nil
}

// attachForKubernetes creates the VolumeAttachment that Kubernetes creates for a pod, and waits until it is attached.
func (d *demo) attachForKubernetes(ctx context.Context, node string) error {
	if err := d.world.AskAttachment(ctx, gateway.TicketOf(claimed, node), claimed, node); err != nil {
		return err
	}
	_, err := d.world.WaitKubernetesAttached(ctx, claimed, node, patience)
	return err
}

func (d *demo) detachForKubernetes(ctx context.Context, node string) error {
	if err := d.world.EndAttachment(ctx, gateway.TicketOf(claimed, node)); err != nil {
		return err
	}
	return d.world.WaitKubernetesDetached(ctx, claimed, node, patience)
}

// readForMount sends the reads that the plugin sends before it mounts a volume on a node, and returns its device there.
func (d *demo) readForMount(ctx context.Context, calls gateway.Client, node string) (device string, err error) {
	v, err := calls.Wait(ctx, claimed, "a device on "+node, func(v gateway.Resource) bool {
		return v["state"] == "attached" && v["ready"] == true && gateway.DeviceOn(v, node) != ""
	})
	if err != nil {
		return "", err
	}
	_, err = calls.Call(ctx, http.MethodGet, "/v1/settings/storage-network", nil)
	return gateway.DeviceOn(v, node), err
}

// moveClaimed ends the pod and starts it on a second node, and reads its text there.
func (d *demo) moveClaimed(ctx context.Context) (string, error) {
	if err := d.world.WriteFrom(ctx, claimed, spare, 1, kept); err != nil {
		return "", err
	}
	if err := d.detachForKubernetes(ctx, spare); err != nil {
		return "", err
	}
	if err := d.attachForKubernetes(ctx, helper); err != nil {
		return "", err
	}
	return fmt.Sprintf("there it reads %q", kept), d.world.Keeps(ctx, claimed, 1, kept)
}

// endPersistentVolume deletes the PersistentVolume, as csi-provisioner does. Kubernetes' own protection has no controller here: its
// finalizer is dropped once no other finalizer is left.
func (d *demo) endPersistentVolume(ctx context.Context) error {
	pv := &corev1.PersistentVolume{}
	pv.Name = claimed
	if err := d.world.Admin.Delete(ctx, pv); err != nil {
		return fmt.Errorf("deleting the PersistentVolume: %w", err)
	}
	if err := d.world.Wait(ctx, "the end of attach-controller's finalizer", patience, func(ctx context.Context) (string, error) {
		if err := d.world.Admin.Get(ctx, client.ObjectKeyFromObject(pv), pv); err != nil {
			return "", fmt.Errorf("reading the PersistentVolume: %w", err)
		}
		if len(pv.Finalizers) == 1 && pv.Finalizers[0] == "kubernetes.io/pv-protection" {
			return "", nil
		}
		return fmt.Sprintf("the finalizers are %v", pv.Finalizers), nil
	}); err != nil {
		return err
	}
	return d.world.Patch(ctx, pv, map[string]any{"metadata": map[string]any{"finalizers": nil}})
}

// confirmClaimedIsGone ends the PersistentVolume, and looks for anything else that the claim had.
func (d *demo) confirmClaimedIsGone(ctx context.Context) (string, error) {
	if err := d.endPersistentVolume(ctx); err != nil {
		return "", err
	}
	return "no PersistentVolume, Volume, Engine, EngineFrontend, Replica, ticket or instance",
		d.world.Wait(ctx, "the end of all that "+claimed+" had", patience, func(ctx context.Context) (string, error) {
			for _, list := range []client.ObjectList{&corev1.PersistentVolumeList{}, &v1beta2.VolumeList{}, &v1beta2.EngineList{},
				&v1beta2.EngineFrontendList{}, &v1beta2.ReplicaList{}, &v1beta2.VolumeAttachmentList{}} {
				if name, err := d.findOfClaimed(ctx, list); name != "" || err != nil {
					return name, err
				}
			}
			return d.findInstanceOfClaimed(ctx)
		})
}

// findOfClaimed returns an object that belongs to the claim's volume, as text; empty if there is no such object.
func (d *demo) findOfClaimed(ctx context.Context, list client.ObjectList) (found string, err error) {
	if err := d.world.Admin.List(ctx, list); err != nil {
		return "", fmt.Errorf("listing what is left: %w", err)
	}
	err = meta.EachListItem(list, func(object runtime.Object) error {
		if named, err := meta.Accessor(object); err == nil && strings.HasPrefix(named.GetName(), claimed) {
			found = fmt.Sprintf("%T %s is there", object, named.GetName())
		}
		return nil
	})
	return found, err
}

// findInstanceOfClaimed returns an instance of the claim's volume, as text; empty if none runs.
func (d *demo) findInstanceOfClaimed(ctx context.Context) (string, error) {
	for _, node := range nodes {
		for _, engine := range world.DataEngines() {
			listed, err := d.world.Inventory(ctx, d.world.InstanceManager(node, engine))
			if err != nil {
				return "", err
			}
			for name := range listed {
				if strings.HasPrefix(name, claimed) {
					return name + " is on " + node, nil
				}
			}
		}
	}
	return "", nil
}
