package upgradecontroller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
	"drover.dev/drover/upgrade-controller/internal/plan"
	"drover.dev/drover/upgrade-controller/internal/setting"
)

// applyPlan writes the finalizer, the status, and then everything else: a pod that the API server refuses must not keep the status from
// being written, because the time of the check counts from there. It reports whether the status was written, also beside an error.
func (r *planReconciler) applyPlan(ctx context.Context, w *plan.World, v plan.Verdict) (bool, error) {
	switch {
	case v.AddFinalizer:
		return false, addFinalizer(ctx, r.client, w.Manager)
	case v.DropFinalizer:
		if err := r.dropChecks(ctx, r.observer.live, w.Manager); err != nil {
			return false, err
		}
		return false, client.IgnoreNotFound(status.DropFinalizer(ctx, r.client, w.Manager, v1beta2.Finalizer))
	}
	changed, err := difference(w.Manager.Status, v.Status)
	if err != nil {
		return false, err
	}
	if len(changed) > 0 {
		if err := status.MergeStatus(ctx, r.client, w.Manager, changed, status.AtVersion()); err != nil {
			return false, client.IgnoreNotFound(err)
		}
	}
	return len(changed) > 0, errors.Join(r.checkImages(ctx, w.Manager, v.Check), r.applyRest(ctx, w, v))
}

func (r *planReconciler) applyRest(ctx context.Context, w *plan.World, v plan.Verdict) error {
	if v.DropChecks {
		if err := r.dropChecks(ctx, r.observer.reader(nodeupgrade.Ended(v.Status.State)), w.Manager); err != nil {
			return err
		}
	}
	for _, u := range v.Delete {
		if err := status.Delete(ctx, r.client, u); err != nil {
			return err
		}
	}
	if v.Create == "" {
		return nil
	}
	u := &v1beta2.NodeDataEngineUpgrade{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Manager.Namespace, Name: v.CreateName, Finalizers: []string{v1beta2.Finalizer},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1beta2.GroupVersion.String(), Kind: "DataEngineUpgradeManager", Name: w.Manager.Name, UID: w.Manager.UID,
			}},
		},
		Spec: v1beta2.NodeDataEngineUpgradeSpec{
			NodeID: v.Create, DataEngine: w.Manager.Spec.DataEngine, InstanceManagerImage: v.Status.InstanceManagerImage,
			DataEngineUpgradeManager: w.Manager.Name,
		},
	}
	if err := r.client.Create(ctx, u, client.FieldOwner(Owner)); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the upgrade of node %s: %w", v.Create, err)
	}
	return nil
}

// checkImages creates the pods that are not there yet, of every node: one that is refused keeps no other from being created.
func (r *planReconciler) checkImages(ctx context.Context, m *v1beta2.DataEngineUpgradeManager, nodes []string) error {
	if len(nodes) == 0 {
		return nil
	}
	pods, err := r.observer.checks(ctx, r.observer.cached, m)
	if err != nil {
		return err
	}
	secret, err := r.pullSecret(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, node := range nodes {
		if slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return pod.Name == checkName(m, node) }) {
			continue
		}
		err := r.client.Create(ctx, checkPod(m, node, secret, r.observer.profiles), client.FieldOwner(Owner))
		if apierrors.IsAlreadyExists(err) {
			err = nil
		}
		r.refused.record(m.UID, node, err)
		if err != nil {
			failed = append(failed, fmt.Errorf("creating the pod that checks the image on node %s: %w", node, err))
		}
	}
	return errors.Join(failed...)
}

// pullSecret is the Secret with which im-monitor's pods pull the image, so that a check fails only where the instance manager would.
func (r *planReconciler) pullSecret(ctx context.Context) (string, error) {
	if r.options.PullSecret != "" {
		return r.options.PullSecret, nil
	}
	values, err := r.observer.setting(ctx, r.observer.cached, setting.RegistrySecret)
	return values.PullSecret, err
}

// dropChecks deletes the pods that a reader shows, and forgets which were refused: an upgrade that is tried again creates them again. Once
// the plan has ended no later pass finds one that the cache did not show yet.
func (r *planReconciler) dropChecks(ctx context.Context, from client.Reader, m *v1beta2.DataEngineUpgradeManager) error {
	r.refused.forget(m.UID)
	pods, err := r.observer.checks(ctx, from, m)
	if err != nil {
		return err
	}
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil {
			continue
		}
		uid := pod.UID
		if err := r.client.Delete(ctx, pod.DeepCopy(), client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting the pod %s that checked an image: %w", pod.Name, err)
		}
	}
	return nil
}

// addFinalizer keeps the object of an upgrade until the upgrade of its node has ended.
func addFinalizer(ctx context.Context, c client.Client, upgrade client.Object) error {
	return status.MergeMetadata(ctx, c, upgrade,
		map[string]any{"finalizers": append(slices.Clone(upgrade.GetFinalizers()), v1beta2.Finalizer)})
}
