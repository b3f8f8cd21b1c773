package model

import (
	"maps"
	"slices"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/shared/api/v1beta2"
)

// decideHolder is one pass of attach.Decide, applied as its reconciler does.
func (w *world) decideHolder() {
	volume, attachment := read(w, &w.volume), read(w, &w.attachment)
	evaluated := attach.VolumeOf(volume)
	verdict := attach.Decide(w.holderWorld(evaluated, attachment))
	for _, step := range verdict.Steps {
		if step.Fresh && attach.VolumeOf(w.volume.now) != evaluated {
			w.trace("tickets: overtaken")
			break
		}
		if !w.applyHolder(volume, attachment, verdict, step) {
			break
		}
	}
	w.checkAnswers()
}

func (w *world) holderWorld(volume attach.Volume, attachment *v1beta2.VolumeAttachment) attach.World {
	out := attach.World{Now: w.now, Volume: &volume, Attachment: attach.AttachmentOf(attachment), Nodes: map[string]attach.Node{}}
	for _, n := range w.nodes {
		out.Nodes[n.name] = attach.NodeOf(read(w, &n.slot))
	}
	if volume.Migrating() {
		for _, e := range all(w, w.engines) {
			out.Engines = append(out.Engines, attach.EngineOf(e))
		}
		for _, f := range all(w, w.frontends) {
			out.Frontends = append(out.Frontends, attach.FrontendOf(f))
		}
	}
	return out
}

func (w *world) applyHolder(volume *v1beta2.Volume, attachment *v1beta2.VolumeAttachment, verdict attach.Verdict, step attach.Step) bool {
	if !step.AtVersion {
		attachment = nil
	}
	if step.Kind == attach.StepAnswer {
		return write(w, &w.attachment, attachment, func(a *v1beta2.VolumeAttachment) { w.answer(a, verdict, step) })
	}
	before := attach.VolumeOf(volume).Spec
	if !step.AtVersion {
		volume = nil
	}
	return write(w, &w.volume, volume, func(v *v1beta2.Volume) {
		w.trace("tickets: %s: %+v -> %+v", verdict.Row, before, verdict.Spec)
		moveTo(v, before, verdict.Spec)
	})
}

func (w *world) answer(a *v1beta2.VolumeAttachment, verdict attach.Verdict, step attach.Step) {
	stored := maps.Clone(a.Status.AttachmentTicketStatuses)
	if stored == nil {
		stored = map[string]v1beta2.AttachmentTicketStatus{}
	}
	for _, id := range slices.Sorted(maps.Keys(step.Answers)) {
		answer := step.Answers[id]
		if answer == nil {
			delete(stored, id)
			continue
		}
		if answer.Satisfied != stored[id].Satisfied || answer.Generation != stored[id].Generation {
			w.trace("tickets: %s/%d satisfied=%v %s", id, answer.Generation, answer.Satisfied, answer.Conditions[0].Reason)
		}
		stored[id] = *answer
	}
	a.Status = verdict.Status
	a.Status.AttachmentTicketStatuses = stored
}

// moveTo writes those fields of the spec that differ from the evaluated spec.
func moveTo(v *v1beta2.Volume, evaluated, wanted attach.Spec) {
	if evaluated.NodeID != wanted.NodeID {
		v.Spec.NodeID = wanted.NodeID
	}
	if evaluated.MigrationNodeID != wanted.MigrationNodeID {
		v.Spec.MigrationNodeID = wanted.MigrationNodeID
	}
	if evaluated.DisableFrontend != wanted.DisableFrontend {
		v.Spec.DisableFrontend = wanted.DisableFrontend
	}
	if evaluated.LastAttachedBy != wanted.LastAttachedBy {
		v.Spec.LastAttachedBy = wanted.LastAttachedBy
	}
}
