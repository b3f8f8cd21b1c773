package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"drover.dev/drover/e2e/csiplugin"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cluster"
)

const (
	class         = "longhorn"
	snapshotClass = "longhorn"
	gi            = int64(1) << 30
	first, later  = "written on " + near, "written on " + far
)

// life is the life of a claim: each step follows from those before it.
type life struct {
	world    *world.World
	plugins  map[string]*csiplugin.Plugin
	kubelets map[string]*kubelet
	steps    int
	began    time.Time
	// data, clone and restored are the PersistentVolumes of the claims of these names.
	data, clone, restored *corev1.PersistentVolume
	// content is the VolumeSnapshotContent of the VolumeSnapshot.
	content string
}

// install creates the objects that a cluster has before its first claim: the accounts, the StorageClass and the CSIDriver of deploy/csi,
// and the CSINodes of the kubelets.
func (l *life) install(ctx context.Context) error {
	if err := csiplugin.Prepare(ctx, l.world); err != nil {
		return err
	}
	root, err := cluster.SourceRoot()
	if err != nil {
		return err
	}
	for file, object := range map[string]client.Object{"csidriver.yaml": &storagev1.CSIDriver{},
		"storageclass.yaml": &storagev1.StorageClass{}} {
		text, err := os.ReadFile(filepath.Join(root, "deploy", "csi", file))
		if err != nil {
			return fmt.Errorf("reading a manifest: %w", err)
		}
		if err := yaml.UnmarshalStrict(text, object); err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		if err := l.world.Admin.Create(ctx, object); err != nil {
			return fmt.Errorf("creating the object of %s: %w", file, err)
		}
	}
	if err := l.world.RegisterDriver(ctx); err != nil {
		return err
	}
	if err := l.world.VolumeSnapshots(ctx); err != nil {
		return err
	}
	return l.world.SnapshotClass(ctx, snapshotClass, "snap", "Delete")
}

// live takes the claim through its life.
func (l *life) live(ctx context.Context) error {
	l.kubelets = map[string]*kubelet{}
	for node, plugin := range l.plugins {
		k, end, err := newKubelet(l.world, node, plugin)
		if err != nil {
			return err
		}
		defer end()
		l.kubelets[node] = k
	}
	for _, step := range []struct {
		title string
		do    func(context.Context) error
	}{
		{"a claim of the StorageClass gets a volume", l.claim},
		{"a pod on " + near + " gets it: attached, staged, published", l.useNear},
		{"bytes are written", func(ctx context.Context) error { return l.world.WriteFrom(ctx, l.volume(), near, 1, first) }},
		{"the pod moves to " + far + ", where the bytes are read", l.move},
		{"the claim grows to 2 Gi while the pod runs", l.grow},
		{"a VolumeSnapshot is taken", l.snapshot},
		{"other bytes are written; a claim from the snapshot has the first ones", l.restore},
		{"a claim from the claim has the other bytes", l.copy},
		{"pods, claims and the snapshot are deleted", l.delete},
		{"nothing is left of them", l.confirmNothingIsLeft},
	} {
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w\n%s", step.title, err, l.readLogs())
		}
		l.steps++
		fmt.Printf("%6.1fs  ✓ %s\n", time.Since(l.began).Seconds(), step.title)
	}
	fmt.Printf("\nAll %d steps passed in %.0f s.\n", l.steps, time.Since(l.began).Seconds())
	return nil
}

// readLogs returns the ends of the logs of the plugins and sidecars.
func (l *life) readLogs() string {
	var out strings.Builder
	found, err := filepath.Glob(filepath.Join(l.world.Dir, "csi-*.log"))
	if err != nil {
		return err.Error()
	}
	for _, plugin := range l.plugins {
		found = append(found, plugin.Log)
	}
	for _, path := range found {
		text, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s ends (%v):\n%s\n", filepath.Base(path), err, text[max(0, len(text)-3000):])
	}
	return out.String()
}

func (l *life) volume() string { return l.data.Spec.CSI.VolumeHandle }

// makeClaim creates a claim for a block device, from a source if one is given, and returns its PersistentVolume once it is bound.
func (l *life) makeClaim(ctx context.Context, name string, size int64, source *corev1.TypedLocalObjectReference) (*corev1.PersistentVolume,
	error) {
	className, mode := class, corev1.PersistentVolumeBlock
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: &className, VolumeMode: &mode, DataSource: source, Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(size, resource.BinarySI)}}}}
	if err := l.world.Admin.Create(ctx, claim); err != nil {
		return nil, fmt.Errorf("creating claim %s: %w", name, err)
	}
	if err := l.world.Wait(ctx, "a volume for claim "+name, patience, func(ctx context.Context) (string, error) {
		if err := l.world.Admin.Get(ctx, client.ObjectKeyFromObject(claim), claim); err != nil {
			return "", fmt.Errorf("reading claim %s: %w", name, err)
		}
		if claim.Status.Phase != corev1.ClaimBound {
			return fmt.Sprintf("it is %s", claim.Status.Phase), nil
		}
		return "", nil
	}); err != nil {
		return nil, err
	}
	pv := &corev1.PersistentVolume{}
	if err := l.world.Admin.Get(ctx, client.ObjectKey{Name: claim.Spec.VolumeName}, pv); err != nil {
		return nil, fmt.Errorf("reading the PersistentVolume of claim %s: %w", name, err)
	}
	return pv, nil
}

func (l *life) claim(ctx context.Context) (err error) {
	if l.data, err = l.makeClaim(ctx, "data", gi, nil); err != nil {
		return err
	}
	return l.world.WaitVolume(ctx, l.volume(), "as its class wants it", patience, func(v *v1beta2.Volume) string {
		if v.Spec.Size != gi || v.Spec.NumberOfReplicas != 3 || v.Spec.DataEngine != v1beta2.DataEngineV2 {
			return fmt.Sprintf("its spec is %+v", v.Spec)
		}
		return ""
	})
}

// use starts a pod of a claim on a node, and plays its kubelet once the volume is attached.
func (l *life) use(ctx context.Context, pod, claim, node string, pv *corev1.PersistentVolume) error {
	if err := l.world.Pod(ctx, pod, claim, node); err != nil {
		return err
	}
	if _, err := l.world.WaitKubernetesAttached(ctx, pv.Name, node, patience); err != nil {
		return err
	}
	return l.kubelets[node].mount(ctx, pv)
}

// endUse ends a pod on a node, and waits until its volume is detached from there.
func (l *life) endUse(ctx context.Context, pod, node string, pv *corev1.PersistentVolume) error {
	if err := l.kubelets[node].unmount(ctx, pv.Spec.CSI.VolumeHandle); err != nil {
		return err
	}
	if err := l.world.KillPod(ctx, pod); err != nil {
		return err
	}
	return l.world.Wait(ctx, "the end of the attachment of "+pv.Name, patience, func(ctx context.Context) (string, error) {
		left, err := l.world.AttachmentsOf(ctx, pv.Name)
		for _, attachment := range left {
			if attachment.Spec.NodeName == node {
				return attachment.Name + " is there", err
			}
		}
		return "", err
	})
}

func (l *life) useNear(ctx context.Context) error { return l.use(ctx, "writer", "data", near, l.data) }

func (l *life) move(ctx context.Context) error {
	if err := l.endUse(ctx, "writer", near, l.data); err != nil {
		return err
	}
	if err := l.use(ctx, "reader", "data", far, l.data); err != nil {
		return err
	}
	return l.world.Keeps(ctx, l.volume(), 1, first)
}

func (l *life) grow(ctx context.Context) error {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "data"}}
	if err := l.world.Patch(ctx, claim, map[string]any{"spec": map[string]any{"resources": map[string]any{
		"requests": map[string]any{"storage": "2Gi"}}}}); err != nil {
		return err
	}
	if err := l.world.WaitGrown(ctx, l.volume(), 2*gi, patience); err != nil {
		return err
	}
	if err := l.world.Wait(ctx, "the new size of the PersistentVolume", patience, func(ctx context.Context) (string, error) {
		if err := l.world.Admin.Get(ctx, client.ObjectKeyFromObject(l.data), l.data); err != nil {
			return "", fmt.Errorf("reading a PersistentVolume: %w", err)
		}
		if size := l.data.Spec.Capacity[corev1.ResourceStorage]; size.Value() != 2*gi {
			return "it is " + size.String(), nil
		}
		return "", nil
	}); err != nil {
		return err
	}
	return l.kubelets[far].grow(ctx, l.volume(), 2*gi)
}

func (l *life) snapshot(ctx context.Context) error {
	if err := l.world.VolumeSnapshot(ctx, "monday", snapshotClass, "data"); err != nil {
		return err
	}
	taken, err := l.world.WaitVolumeSnapshot(ctx, "monday", "ready to use", patience,
		func(s world.VolumeSnapshotStatus) bool { return s.Ready })
	l.content = taken.Content
	return err
}

func (l *life) restore(ctx context.Context) (err error) {
	if err := l.world.WriteFrom(ctx, l.volume(), far, 1, later); err != nil {
		return err
	}
	group := "snapshot.storage.k8s.io"
	source := &corev1.TypedLocalObjectReference{APIGroup: &group, Kind: "VolumeSnapshot", Name: "monday"}
	if l.restored, err = l.makeClaim(ctx, "restored", 2*gi, source); err != nil {
		return err
	}
	if err := l.use(ctx, "restorer", "restored", near, l.restored); err != nil {
		return err
	}
	return l.world.Keeps(ctx, l.restored.Spec.CSI.VolumeHandle, 1, first)
}

func (l *life) copy(ctx context.Context) (err error) {
	source := &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "data"}
	if l.clone, err = l.makeClaim(ctx, "clone", 2*gi, source); err != nil {
		return err
	}
	if err := l.endUse(ctx, "restorer", near, l.restored); err != nil {
		return err
	}
	if err := l.use(ctx, "cloner", "clone", near, l.clone); err != nil {
		return err
	}
	return l.world.Keeps(ctx, l.clone.Spec.CSI.VolumeHandle, 1, later)
}

func (l *life) delete(ctx context.Context) error {
	if err := l.endUse(ctx, "cloner", near, l.clone); err != nil {
		return err
	}
	if err := l.endUse(ctx, "reader", far, l.data); err != nil {
		return err
	}
	if err := l.world.DeleteVolumeSnapshot(ctx, "monday"); err != nil {
		return err
	}
	for _, name := range []string{"data", "restored", "clone"} {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}}
		if err := l.world.Admin.Delete(ctx, claim); err != nil {
			return fmt.Errorf("deleting claim %s: %w", name, err)
		}
	}
	return nil
}

// confirmNothingIsLeft waits until no object of the claims is there, of Kubernetes or of Longhorn, and no instance or data of a volume.
func (l *life) confirmNothingIsLeft(ctx context.Context) error {
	if err := l.world.WaitVolumeSnapshotGone(ctx, "monday", l.content, patience); err != nil {
		return err
	}
	if err := l.world.Wait(ctx, "no object of the claims", patience, func(ctx context.Context) (string, error) {
		for _, list := range []client.ObjectList{&corev1.PersistentVolumeClaimList{}, &corev1.PersistentVolumeList{},
			&storagev1.VolumeAttachmentList{}, &v1beta2.VolumeList{}, &v1beta2.EngineList{}, &v1beta2.EngineFrontendList{},
			&v1beta2.ReplicaList{}, &v1beta2.SnapshotList{}, &v1beta2.VolumeAttachmentList{}, &v1beta2.OrphanList{}} {
			if err := l.world.Admin.List(ctx, list); err != nil {
				return "", fmt.Errorf("listing what is left: %w", err)
			}
			if count := meta.LenList(list); count > 0 {
				return fmt.Sprintf("%d of %T are there", count, list), nil
			}
		}
		return "", nil
	}); err != nil {
		return err
	}
	for _, node := range []string{near, far, "node-3"} {
		for _, engine := range world.DataEngines() {
			running, err := l.world.Inventory(ctx, l.world.InstanceManager(node, engine))
			if err != nil {
				return err
			}
			if len(running) > 0 {
				return fmt.Errorf("%s of %s still has %v", engine, node, running)
			}
		}
	}
	return l.world.NoHarm(ctx)
}
