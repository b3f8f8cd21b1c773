package instancecontroller

import (
	"context"
	"slices"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
)

// changedFields are the keys of a merge patch from one status to the other; empty fields are removed.
func changedFields(before, after instance.Status) map[string]any {
	out := map[string]any{}
	change(out, "currentState", before.State, after.State)
	change(out, "starting", before.Starting, after.Starting)
	change(out, "started", before.Started, after.Started)
	change(out, "instanceManagerName", before.InstanceManager, after.InstanceManager)
	change(out, "currentImage", before.Image, after.Image)
	change(out, "ip", before.IP, after.IP)
	change(out, "storageIP", before.StorageIP, after.StorageIP)
	change(out, "port", before.Port, after.Port)
	change(out, "uuid", before.UUID, after.UUID)
	change(out, "ublkID", before.UblkID, after.UblkID)
	change(out, "endpoint", before.Endpoint, after.Endpoint)
	change(out, "salvageExecuted", before.SalvageExecuted, after.SalvageExecuted)
	change(out, "activePath", before.ActivePath, after.ActivePath)
	change(out, "preferredPath", before.PreferredPath, after.PreferredPath)
	changeSwitchover(out, before.Switchover, after.Switchover)
	change(out, "suspendedAt", before.Suspended, after.Suspended)
	change(out, "targetIP", before.TargetIP, after.TargetIP)
	change(out, "targetPort", before.TargetPort, after.TargetPort)
	if before.Size != after.Size {
		out["currentSize"] = nil
		if after.Size != 0 {
			out["currentSize"] = strconv.FormatInt(int64(after.Size), 10)
		}
	}
	if !slices.Equal(before.Paths, after.Paths) {
		out["paths"] = nil
		if len(after.Paths) > 0 {
			out["paths"] = after.Paths
		}
	}
	return out
}

// withOwner adds to an instance's first status its owner: the node, unless that is down. Every owner after it is written by package
// ownershipcontroller.
func withOwner(fields map[string]any, o client.Object, before, after instance.Status, down bool) {
	node, first := v1beta2.NodeNameOf(o), before.State == "" && after.State != ""
	if first && node != "" && !down && v1beta2.OwnerNodeOf(o) == "" {
		fields["ownerID"] = node
	}
}

// changeSwitchover writes what a switch-over is about together with its phase: they are one step.
func changeSwitchover(out map[string]any, before, after instance.Switchover) {
	if before == after {
		return
	}
	change(out, "switchoverPhase", before.Phase, after.Phase)
	if after == (instance.Switchover{}) {
		out["switchover"] = nil
		return
	}
	fields := map[string]any{}
	change(fields, "accepted", before.Accepted, after.Accepted)
	change(fields, "engineName", before.Engine, after.Engine)
	change(fields, "engineUID", before.UID, after.UID)
	change(fields, "oldTargetClosed", before.OldClosed, after.OldClosed)
	change(fields, "since", before.Since, after.Since)
	change(fields, "targetIP", before.IP, after.IP)
	change(fields, "targetPort", before.Port, after.Port)
	change(fields, "unanswered", before.Unanswered, after.Unanswered)
	out["switchover"] = fields
}

func change[T comparable](out map[string]any, name string, before, after T) {
	var none T
	switch {
	case before == after:
	case after == none:
		out[name] = nil
	default:
		out[name] = after
	}
}

// writeCondition applies the one condition that im-monitor owns here, or removes it where there is no reason.
func (s *base) writeCondition(ctx context.Context, o client.Object, reason, message string, at ...status.Option) error {
	list := []v1beta2.Condition{}
	if reason != "" {
		list = append(list, v1beta2.Condition{Type: v1beta2.InstanceNodeDown, Status: v1beta2.ConditionTrue, Reason: reason,
			Message:            message,
			LastTransitionTime: s.rt.Clock.Now().UTC().Format(time.RFC3339), ObservedGeneration: o.GetGeneration()})
	}
	return status.Apply(ctx, s.rt.Client, o, fieldOwner, map[string]any{"conditions": status.ConditionsField(list)}, at...)
}

// problemOwner applies the conditions that report why an instance does not start.
const problemOwner = "im-monitor.start"

// writeProblems applies InstanceCreation, WaitForBackingImage and Switchover. One that was never bad is not there; one that was reports
// that it is over.
func (s *base) writeProblems(ctx context.Context, o client.Object, after instance.Status, at ...status.Option) error {
	var list []v1beta2.Condition
	add := func(kind string, bad, good v1beta2.ConditionStatus, problem instance.Problem, over string) {
		c := v1beta2.Condition{Type: kind, Status: bad, Reason: problem.Reason, Message: problem.Message,
			ObservedGeneration: o.GetGeneration()}
		before := conditions.Get(conditionsOf(o), kind)
		if problem.Reason == "" {
			if before == nil {
				return
			}
			c.Status, c.Reason = good, over
		}
		c.LastTransitionTime = s.rt.Clock.Now().UTC().Format(time.RFC3339)
		if before != nil && before.Status == c.Status {
			c.LastTransitionTime = before.LastTransitionTime
		}
		list = append(list, c)
	}
	add(v1beta2.InstanceCreation, v1beta2.ConditionFalse, v1beta2.ConditionTrue, after.Creation, v1beta2.ReasonInstanceCreated)
	if _, ok := o.(*v1beta2.Replica); ok {
		add(v1beta2.WaitForBackingImage, v1beta2.ConditionTrue, v1beta2.ConditionFalse, after.BackingImage, v1beta2.ReasonBackingImageReady)
	}
	if _, ok := o.(*v1beta2.EngineFrontend); ok {
		add(v1beta2.FrontendSwitchover, v1beta2.ConditionFalse, v1beta2.ConditionTrue, after.Switching, v1beta2.ReasonGoesOn)
	}
	return status.Apply(ctx, s.rt.Client, o, problemOwner, map[string]any{"conditions": status.ConditionsField(list)}, at...)
}
