package attachcontroller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// writer writes. It reads nothing but a volume right before an answer is raised.
type writer struct {
	client   client.Client
	uncached client.Reader
}

// apply does the steps in order and returns those that were done. It ends early, without an error, if the volume changed since it was
// evaluated: the event of that change, and another verdict, follow.
func (a writer) apply(ctx context.Context, of objects, v attach.Verdict) ([]attach.Step, error) {
	for i, step := range v.Steps {
		if step.Fresh {
			same, err := a.fresh(ctx, of.volume)
			if err != nil || !same {
				return v.Steps[:i], err
			}
		}
		if err := a.write(ctx, of, v, step); err != nil {
			return v.Steps[:i], err
		}
	}
	return v.Steps, nil
}

func (a writer) write(ctx context.Context, of objects, v attach.Verdict, step attach.Step) error {
	var options []status.Option
	if step.AtVersion {
		options = append(options, status.AtVersion())
	}
	switch step.Kind {
	case attach.StepAnswer:
		return client.IgnoreNotFound(status.MergeStatus(ctx, a.client, of.attachment, answerFields(v, step), options...))
	case attach.StepSpec:
		return client.IgnoreNotFound(status.MergeSpec(ctx, a.client, of.volume, specFields(of.volume, v.Spec), options...))
	}
	return fmt.Errorf("unknown step %q", step.Kind)
}

// fresh reports whether the volume still is as evaluated. It reads uncached: the cache may show a volume that was just taken back.
func (a writer) fresh(ctx context.Context, evaluated *v1beta2.Volume) (bool, error) {
	volume, err := lookup.Get(ctx, a.uncached, evaluated.Namespace, evaluated.Name, &v1beta2.Volume{})
	if volume == nil || err != nil {
		return false, err
	}
	same := volume.UID == evaluated.UID && attach.VolumeOf(volume) == attach.VolumeOf(evaluated)
	if !same {
		overtaken.Inc()
	}
	return same, nil
}

// specFields are the fields of Volume.spec that differ.
func specFields(v *v1beta2.Volume, wanted attach.Spec) map[string]any {
	now, fields := attach.VolumeOf(v).Spec, map[string]any{}
	if now.NodeID != wanted.NodeID {
		fields["nodeID"] = wanted.NodeID
	}
	if now.MigrationNodeID != wanted.MigrationNodeID {
		fields["migrationNodeID"] = wanted.MigrationNodeID
	}
	if now.DisableFrontend != wanted.DisableFrontend {
		fields["disableFrontend"] = wanted.DisableFrontend
	}
	if now.LastAttachedBy != wanted.LastAttachedBy {
		fields["lastAttachedBy"] = wanted.LastAttachedBy
	}
	return fields
}

// answerFields are the changed answers, and the rest of the status in full.
func answerFields(v attach.Verdict, step attach.Step) map[string]any {
	fields := map[string]any{
		"conditions": status.ConditionsField(v.Status.Conditions), "observedGeneration": v.Status.ObservedGeneration,
		"holder": v.Status.Holder, "nodeID": v.Status.NodeID,
	}
	answers := map[string]any{}
	for id, answer := range step.Answers {
		if answer == nil {
			answers[id] = nil
			continue
		}
		answers[id] = map[string]any{
			"id": answer.ID, "generation": answer.Generation, "satisfied": answer.Satisfied,
			"conditions": status.ConditionsField(answer.Conditions),
		}
	}
	if len(answers) > 0 {
		fields["attachmentTicketStatuses"] = answers
	}
	return fields
}
