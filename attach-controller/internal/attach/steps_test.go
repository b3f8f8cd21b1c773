package attach

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// written is what a step does, in short.
type written struct {
	kind             StepKind
	atVersion, fresh bool
	satisfied        []string
	lowered, removed []string
}

func writes(v Verdict) []written {
	var out []written
	for _, step := range v.Steps {
		w := written{kind: step.Kind, atVersion: step.AtVersion, fresh: step.Fresh}
		for _, id := range []string{"a", "b", "c"} {
			answer, exists := step.Answers[id]
			switch {
			case exists && answer == nil:
				w.removed = append(w.removed, id)
			case exists && answer.Satisfied:
				w.satisfied = append(w.satisfied, id)
			case exists:
				w.lowered = append(w.lowered, id)
			}
		}
		out = append(out, w)
	}
	return out
}

func TestTheOrderOfWrites(t *testing.T) {
	a, b := ticket("a", v1beta2.AttacherCSI, here), ticket("b", v1beta2.AttacherCSI, there)
	spec := written{kind: StepSpec, atVersion: true}
	yes, no := func(id string) change { return answered(id, true, v1beta2.ReasonSatisfied) },
		func(id string) change { return answered(id, false, v1beta2.ReasonAttaching) }
	cases := map[string]struct {
		world World
		want  []written
	}{
		"a ticket reaches the spec in one write, bound to the evaluated resourceVersion": {basic(a), []written{spec}},
		"others are answered in a later pass":                                            {basic(a, b, no("b")), []written{spec}},
		"what no ticket wants any more is taken back in one write":                       {basic(attached(here)), []written{spec}},
		"what the cache does not show may have been raised: the loser of the node is answered first": {
			basic(attached(here), ticket("a", v1beta2.AttacherSnapshot, here), b, no("a"), no("b")),
			[]written{{kind: StepAnswer, atVersion: true, lowered: []string{"a", "b"}}, spec},
		},
		"lowered first, then the spec": {
			basic(attached(here), a, b, down(here), yes("a")),
			[]written{{kind: StepAnswer, atVersion: true, lowered: []string{"a", "b"}}, spec},
		},
		"the answer of a ticket that is gone goes before the volume is taken from it": {
			basic(attached(here), yes("a")), []written{{kind: StepAnswer, atVersion: true, removed: []string{"a"}}, spec},
		},
		"raised where the spec stays, at the evaluated resourceVersion, over the volume as it is": {
			basic(attached(here), a, no("a")), []written{{kind: StepAnswer, atVersion: true, fresh: true, satisfied: []string{"a"}}},
		},
		"a new generation of a satisfied ticket is raised, too": {
			basic(attached(here), a, yes("a"), func(w *World) {
				x := w.Attachment.Tickets["a"]
				x.Generation = 2
				w.Attachment.Tickets["a"] = x
			}), []written{{kind: StepAnswer, atVersion: true, fresh: true, satisfied: []string{"a"}}},
		},
		"nothing is raised beside a change of the spec: the first pod's answer waits for the migration's begin": {
			basic(migratable, attached(here), a, b, no("a"), no("b"), yes("c")),
			[]written{{kind: StepAnswer, atVersion: true, lowered: []string{"b"}, removed: []string{"c"}}, spec},
		},
		"nothing is raised beside a change of the spec: the target's answer waits for the migration's end": {
			moving(running, withdrawn("csi-"+here), withdrawn("csi-"+there), b, yes("a"), no("b")),
			[]written{{kind: StepAnswer, atVersion: true, removed: []string{"a"}}, spec},
		},
		"lowered where the spec stays: at once, whatever the version": {
			basic(attached(here), a, yes("a"), state(v1beta2.VolumeStateDetaching)),
			[]written{{kind: StepAnswer, atVersion: true, lowered: []string{"a"}}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, writes(Decide(c.world))) })
	}
}

func TestNothingIsWrittenWhereNothingChanged(t *testing.T) {
	for name, w := range map[string]World{
		"detached":                basic(),
		"attached":                basic(attached(here), pod(here), pod(there)),
		"coming up":               basic(wanted(here), state(v1beta2.VolumeStateAttaching), pod(here)),
		"leaving":                 basic(state(v1beta2.VolumeStateDetaching), pod(here)),
		"moving":                  moving(running),
		"confirming":              confirming(),
		"faulted":                 basic(faulted, pod(here)),
		"none servable":           basic(pod(gone), ticket("", "", "")),
		"of no volume":            with(basic(pod(here)), func(w *World) { w.Volume = nil }),
		"without tickets' object": with(basic(), func(w *World) { w.Attachment = nil }),
	} {
		t.Run(name, func(t *testing.T) {
			w = settled(w)
			w.Now = now.Add(24 * 3600e9)
			require.Empty(t, Decide(w).Steps)
		})
	}
}

// A volume whose VolumeAttachment was removed has no holder; the reconciler creates another one before it decides.
func TestAVolumeWithoutVolumeAttachmentIsReleased(t *testing.T) {
	v := Decide(with(basic(attached(here)), func(w *World) { w.Attachment = nil }))
	require.Equal(t, RowUnwanted, v.Row)
	require.Equal(t, []written{{kind: StepSpec, atVersion: true}}, writes(v))
	require.Zero(t, v.Status)
}

// Each of these cases has another row without its rule; e2e/faults leaves the rules out.
func TestRowsByRule(t *testing.T) {
	snapshot := ticket("s", v1beta2.AttacherSnapshot, here)
	rolledBack := volume(func(v *Volume) { v.MigrationNodeID = "" })
	for name, c := range map[string]struct {
		world World
		row   Row
	}{
		"a cordoned node refuses tickets of longhorn-api only":          {basic(pod(here), node(here, Node{Cordoned: true})), RowChoose},
		"a node that went down before the volume was attached loses it": {basic(wanted(here), pod(here), down(here)), RowUnwanted},
		"a node that is down loses a volume that is wanted elsewhere": {
			basic(attached(here), pod(here), pod(there), down(here)), RowDown},
		"a ticket that cannot be served interrupts nothing": {basic(attached(here), snapshot, pod(there), down(there)), RowKeep},
		"restore and expansion interrupt as workload does": {
			basic(attached(here), snapshot, ticket("r", v1beta2.AttacherRestore, there)), RowInterrupt},
		"a ticket with the other frontend interrupts on the same node": {
			basic(attached(here), snapshot, ticket("a", v1beta2.AttacherLonghornAPI, here, offFrontend()...)), RowInterrupt},
		"a migration whose source is down ends": {moving(running, down(here)), RowAbandon},
		"a migration that is rolled back follows the ordinary rows": {
			with(moving(running, withdrawn("csi-"+there), withdrawn("csi-"+here)), rolledBack), RowUnwanted},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.row, Decide(c.world).Row) })
	}
	leaves := Decide(basic(attached(here), pod(here), pod(there), down(here), answered("csi-"+here, true, v1beta2.ReasonSatisfied)))
	require.False(t, leaves.Status.AttachmentTicketStatuses["csi-"+here].Satisfied, "only what the verdict does not change satisfies a ticket")
	require.Equal(t, []StepKind{StepAnswer, StepSpec}, []StepKind{leaves.Steps[0].Kind, leaves.Steps[1].Kind}, "answers are lowered first")
	require.True(t, Decide(basic(pod(here))).Steps[0].AtVersion, "a write is bound to the evaluated version")
}
