package upgradecontroller

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/managerimage"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/shared/upgrade/cluster"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
	"drover.dev/drover/upgrade-controller/internal/plan"
	"drover.dev/drover/upgrade-controller/internal/setting"
)

// observer fills the cores' Worlds. It only reads.
type observer struct {
	cached, live client.Reader
	namespace    string
	clock        clock.PassiveClock
	// profiles are the operator's own profiles of images.
	profiles map[string]managerimage.Profile
}

// reader is where one observation reads.
func (o observer) reader(fresh bool) client.Reader {
	if fresh {
		return o.live
	}
	return o.cached
}

// node reads the world of one node's upgrade; nil: the upgrade is gone.
func (o observer) node(ctx context.Context, name string, fresh bool) (*nodeupgrade.World, error) {
	reader := o.reader(fresh)
	found, err := lookup.Get(ctx, reader, o.namespace, name, &v1beta2.NodeDataEngineUpgrade{})
	if found == nil || err != nil {
		return nil, err
	}
	w := &nodeupgrade.World{Upgrade: found, Fresh: fresh, Snapshots: map[string]*v1beta2.Snapshot{},
		Clones: map[string][]string{}}
	if w.Manager, err = lookup.Get(ctx, reader, o.namespace, found.Spec.DataEngineUpgradeManager,
		&v1beta2.DataEngineUpgradeManager{}); err != nil {
		return nil, err
	}
	all, err := o.upgrades(ctx, reader)
	if err != nil {
		return nil, err
	}
	for _, u := range all {
		if u.Name != name {
			w.Others = append(w.Others, u)
		}
	}
	if w.Cluster, err = o.around(ctx, found, fresh); err != nil {
		return nil, err
	}
	if err := o.snapshots(ctx, reader, w); err != nil {
		return nil, err
	}
	w.Now = o.clock.Now()
	return w, nil
}

// snapshots reads the snapshots that a decision needs: those that are waited for, and at the end all of them, with the volumes that share
// their data. Those are read from the cache, where an index finds them.
func (o observer) snapshots(ctx context.Context, reader client.Reader, w *nodeupgrade.World) error {
	ended := nodeupgrade.Ended(w.Upgrade.Status.State)
	for volume, x := range w.Upgrade.Status.Volumes {
		if x.State != v1beta2.VolumeUpgradeWaiting && !ended {
			continue // it was taken; only the end needs it again
		}
		snapshot, err := lookup.Get(ctx, reader, o.namespace, x.Snapshot, &v1beta2.Snapshot{})
		if err != nil {
			return err
		}
		if snapshot == nil {
			continue
		}
		w.Snapshots[x.Snapshot] = snapshot
		if !ended {
			continue
		}
		if w.Clones[x.Snapshot], err = o.clones(ctx, volume, x.Snapshot); err != nil {
			return err
		}
	}
	return nil
}

// clones are the names of the volumes that share the data of a snapshot or copy it, in order.
func (o observer) clones(ctx context.Context, volume, snapshot string) (names []string, err error) {
	var found v1beta2.VolumeList
	err = lookup.ListShared(ctx, o.cached, o.namespace, &found, client.MatchingFields{bySource: volume + "/" + snapshot})
	for i := range found.Items {
		names = append(names, found.Items[i].Name)
	}
	slices.Sort(names)
	return names, err
}

// plan reads the world of a whole upgrade; nil: it is gone.
func (o observer) plan(ctx context.Context, name string, fresh bool) (*plan.World, error) {
	reader := o.reader(fresh)
	found, err := lookup.Get(ctx, reader, o.namespace, name, &v1beta2.DataEngineUpgradeManager{})
	if found == nil || err != nil {
		return nil, err
	}
	w := &plan.World{Manager: found, Fresh: fresh}
	var managers v1beta2.DataEngineUpgradeManagerList
	if err := lookup.ListShared(ctx, reader, o.namespace, &managers); err != nil {
		return nil, err
	}
	for i := range managers.Items {
		if m := &managers.Items[i]; m.Name != name {
			w.Others = append(w.Others, m)
		}
	}
	if w.Upgrades, err = o.upgrades(ctx, reader); err != nil {
		return nil, err
	}
	values, err := o.setting(ctx, reader, setting.DefaultInstanceManagerImage)
	if err != nil {
		return nil, err
	}
	w.DefaultImage = values.Image
	if plan.ReadsCluster(found) {
		if w.Cluster, err = o.everything(ctx, reader, nil); err != nil {
			return nil, err
		}
	}
	if w.Images, err = o.images(ctx, reader, found); err != nil {
		return nil, err
	}
	w.Now = o.clock.Now()
	return w, nil
}

// setting reads one Setting. Nothing is remembered: with a value that cannot be read an upgrade waits for its correction, and does not
// begin with the image of before.
func (o observer) setting(ctx context.Context, reader client.Reader, name string) (setting.Values, error) {
	source := settingcontroller.NewSource(reader, o.namespace, setting.Catalogue)
	_, err := source.Refusal(ctx, name)
	return source.InForce(v1beta2.DataEngineV2), err
}

func (o observer) upgrades(ctx context.Context, reader client.Reader) ([]*v1beta2.NodeDataEngineUpgrade, error) {
	var found v1beta2.NodeDataEngineUpgradeList
	if err := lookup.ListShared(ctx, reader, o.namespace, &found); err != nil {
		return nil, err
	}
	return cluster.Pointers(found.Items, func(u *v1beta2.NodeDataEngineUpgrade) string { return u.Name }), nil
}

// images reads what is known of the frozen image, by node: an instance manager that runs it proves that it is available, else
// the pod that checks it does.
func (o observer) images(ctx context.Context, reader client.Reader, m *v1beta2.DataEngineUpgradeManager) (map[string]plan.Image, error) {
	out := map[string]plan.Image{}
	if m.Status.State != v1beta2.UpgradeStateInitializing {
		return out, nil
	}
	pods, err := o.checks(ctx, reader, m)
	if err != nil {
		return nil, err
	}
	for _, pod := range pods {
		if counts(pod, m) {
			out[pod.Spec.NodeName] = reported(pod)
		}
	}
	var managers v1beta2.InstanceManagerList
	if err := lookup.ListShared(ctx, reader, o.namespace, &managers); err != nil {
		return nil, err
	}
	for i := range managers.Items {
		im := &managers.Items[i]
		if im.Spec.Image == m.Status.InstanceManagerImage && im.Status.CurrentState == v1beta2.InstanceManagerStateRunning {
			out[im.Spec.NodeID] = plan.Image{Known: true}
		}
	}
	return out, nil
}

// checks are the pods that check images for the manager.
func (o observer) checks(ctx context.Context, reader client.Reader, m *v1beta2.DataEngineUpgradeManager) ([]*corev1.Pod, error) {
	var found corev1.PodList
	err := lookup.ListShared(ctx, reader, o.namespace, &found, client.MatchingLabels{v1beta2.LabelComponent: componentCheck})
	if err != nil {
		return nil, err
	}
	var out []*corev1.Pod
	for i := range found.Items {
		if pod := &found.Items[i]; pod.Annotations[annotationManager] == m.Name {
			out = append(out, pod)
		}
	}
	return out, nil
}
