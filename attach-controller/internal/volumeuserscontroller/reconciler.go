package volumeuserscontroller

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/volumeusers"
)

type reconciler struct {
	client    client.Client
	namespace string
	clock     clock.PassiveClock
	written   kube.Written
}

// Reconcile writes the users and the size of one volume, if the Volume has different values.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	v, err := lookup.Shared(ctx, r.client, request.Namespace, request.Name, &v1beta2.Volume{})
	if err != nil || v == nil || v.DeletionTimestamp != nil {
		return ctrl.Result{}, err
	}
	if r.written.Stale(v) {
		return ctrl.Result{RequeueAfter: kube.CachePause}, nil
	}
	fields, err := r.changed(ctx, v)
	if err != nil || len(fields) == 0 {
		return ctrl.Result{}, err
	}
	err = status.MergeStatus(ctx, r.client, v, fields, status.AtVersion())
	if status.IsConflict(err) {
		return ctrl.Result{RequeueAfter: kube.CachePause}, nil
	}
	if err == nil {
		r.written.Record(v)
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// changed returns the fields of the status that are to change.
func (r *reconciler) changed(ctx context.Context, v *v1beta2.Volume) (map[string]any, error) {
	fields := map[string]any{}
	var engines v1beta2.EngineList
	err := lookup.ListShared(ctx, r.client, r.namespace, &engines, client.MatchingFields{kube.FieldVolume: v.Name})
	if err != nil {
		return nil, err
	}
	if size := volumeusers.SizeOf(v.Status.ActualSize, engines.Items); size != v.Status.ActualSize {
		fields["actualSize"] = size
	}
	users, err := kube.UsersOf(ctx, r.client, v.Name)
	if err != nil {
		return nil, err
	}
	before := v.Status.KubernetesStatus
	now := volumeusers.Follow(before, users, r.clock.Now().UTC().Format(time.RFC3339))
	if !equality.Semantic.DeepEqual(before, now) {
		// Each field is named, so that an empty field is emptied.
		fields["kubernetesStatus"] = map[string]any{"pvName": now.PVName, "pvStatus": now.PVStatus, "namespace": now.Namespace,
			"pvcName": now.PVCName, "lastPVCRefAt": now.LastPVCRefAt, "lastPodRefAt": now.LastPodRefAt,
			"workloadsStatus": now.WorkloadsStatus}
	}
	return fields, nil
}
