package instancecontroller

import (
	"context"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// lostOwner applies the condition DeviceLost alone, so that it outlasts what else is written of a frontend.
const lostOwner = fieldOwner + ".frontend"

// reportLost writes on the object that a frontend was lost, and which pods that concerns, before it is created again. False means that this
// is written already.
func (r *executor) reportLost(ctx context.Context, o client.Object, call instance.Call) (bool, error) {
	f, ok := o.(*v1beta2.EngineFrontend)
	if !ok || call.Lost == "" || conditions.IsTrue(f.Status.Conditions, v1beta2.FrontendDeviceLost) {
		return false, nil
	}
	v, err := lookup.Shared(ctx, r.rt.Uncached, r.rt.Namespace, f.Spec.VolumeName, &v1beta2.Volume{})
	if err != nil {
		return false, err
	}
	message := call.Lost + " " + concerned(v)
	list := []v1beta2.Condition{{Type: v1beta2.FrontendDeviceLost, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonCreatedAnew,
		Message:            message,
		LastTransitionTime: r.rt.Clock.Now().UTC().Format(time.RFC3339), ObservedGeneration: o.GetGeneration()}}
	if err := status.Apply(ctx, r.rt.Client, o, lostOwner, map[string]any{"conditions": status.ConditionsField(list)},
		status.AtVersion()); err != nil {
		return false, err
	}
	events.Emit(r.rt.Recorder, o, lostEvent(message))
	return true, nil
}

// concerned names the pods that use a volume, as far as Longhorn reports.
func concerned(v *v1beta2.Volume) string {
	var pods []string
	if v != nil {
		for _, p := range v.Status.KubernetesStatus.WorkloadsStatus {
			if p.PodName != "" {
				pods = append(pods, v.Status.KubernetesStatus.Namespace+"/"+p.PodName)
			}
		}
	}
	if len(pods) == 0 {
		return "Restart the pods that use the volume."
	}
	return "Restart the pods that use the volume: " + strings.Join(pods, ", ") + "."
}

// forgetLost removes the condition once the volume is detached: the next attachment has the new device.
func (r *reporter) forgetLost(ctx context.Context, o client.Object, v instance.Verdict) error {
	f, ok := o.(*v1beta2.EngineFrontend)
	if !ok || v.Status.State != v1beta2.InstanceStateStopped || !conditions.IsTrue(f.Status.Conditions, v1beta2.FrontendDeviceLost) {
		return nil
	}
	return status.Apply(ctx, r.rt.Client, o, lostOwner, map[string]any{"conditions": status.ConditionsField(nil)})
}
