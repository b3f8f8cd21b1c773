package attach

import (
	"maps"
	"slices"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// checkVerdict checks the properties that every world must have.
func checkVerdict(t require.TestingT, w World, v Verdict) {
	require.NotEmpty(t, v.Row)
	require.LessOrEqual(t, len(v.Steps), 2)
	if w.Volume != nil {
		checkSpec(t, w, v)
	}
	if w.Attachment != nil {
		checkAnswers(t, w, v)
	}
	for i, step := range v.Steps {
		if step.Kind == StepSpec {
			require.True(t, step.AtVersion, "the write carries the evaluated resourceVersion")
			require.Equal(t, len(v.Steps)-1, i, "what is lowered is lowered first")
			require.NotEqual(t, w.Volume.Spec, v.Spec, "no write when nothing changed")
			continue
		}
		for id, answer := range step.Answers {
			before := w.Attachment.Stored.AttachmentTicketStatuses[id]
			if before.Satisfied && (answer == nil || !answer.Satisfied) {
				require.True(t, step.AtVersion, "a late step takes nothing back")
			}
			if answer == nil || !answer.Satisfied || before.Satisfied && before.Generation == answer.Generation {
				continue
			}
			require.Equal(t, w.Volume.Spec, v.Spec, "ATT-2: nothing is raised beside a change of the spec")
			require.True(t, step.AtVersion && step.Fresh, "ATT-2: nor from what may be old")
		}
	}
}

// checkSpec checks the properties of Volume.spec after a verdict.
func checkSpec(t require.TestingT, w World, v Verdict) {
	was, is := w.Volume.Spec, v.Spec
	asked := func(node string) bool {
		return w.Attachment != nil && slices.ContainsFunc(slices.Collect(maps.Values(w.Attachment.Tickets)),
			func(x v1beta2.AttachmentTicket) bool {
				return x.NodeID == node && Selectable(w, x)
			})
	}
	switch {
	case was.NodeID == is.NodeID:
	case was.NodeID == "":
		require.True(t, w.Volume.attachableAnywhere() && was.MigrationNodeID == "", "ATT-1: given when no node has it")
		require.True(t, asked(is.NodeID), "ATT-3: and to somebody who can have it")
	case is.NodeID != "":
		require.Equal(t, was.MigrationNodeID, is.NodeID, "ATT-1: from node to node only where both have it")
		require.Equal(t, is.NodeID, w.Volume.CurrentMigrationNodeID)
		require.Empty(t, is.MigrationNodeID)
	}
	if is.MigrationNodeID != "" && is.MigrationNodeID != was.MigrationNodeID {
		require.True(t, w.Volume.onWantedNode() && w.Volume.Migratable && asked(is.MigrationNodeID),
			"a migration begins on the original node")
		require.NotEqual(t, is.NodeID, is.MigrationNodeID)
	}
	if is.NodeID == "" {
		require.Empty(t, is.MigrationNodeID, "no migration without a source")
	}
	if w.Volume.Deleting || w.Volume.Faulted {
		require.Empty(t, is.NodeID)
	}
	if is.NodeID == was.NodeID && is.NodeID != "" {
		require.Equal(t, was.DisableFrontend, is.DisableFrontend, "the frontend is changed on a detached volume only")
	}
}

// checkAnswers checks the properties of the tickets' answers.
func checkAnswers(t require.TestingT, w World, v Verdict) {
	require.ElementsMatch(t, slices.Collect(maps.Keys(w.Attachment.Tickets)), slices.Collect(maps.Keys(v.Status.AttachmentTicketStatuses)),
		"every ticket is answered, and nothing else")
	for id, x := range w.Attachment.Tickets {
		a := v.Status.AttachmentTicketStatuses[id]
		require.Equal(t, id, a.ID)
		require.Equal(t, x.Generation, a.Generation)
		require.Equal(t, a.Satisfied, conditions.IsTrue(a.Conditions, v1beta2.TicketSatisfied))
		require.NotEmpty(t, conditions.Get(a.Conditions, v1beta2.TicketSatisfied).Message)
		checkReason(t, "status.attachmentTicketStatuses", a.Conditions[0])
		if !a.Satisfied {
			continue
		}
		require.NotNil(t, w.Volume)
		require.Equal(t, v1beta2.VolumeStateAttached, w.Volume.State, "ATT-2")
		if w.Volume.Shared && x.Type == v1beta2.AttacherCSI {
			continue
		}
		runs := []string{w.Volume.CurrentNodeID, w.Volume.CurrentMigrationNodeID}
		require.Contains(t, runs, x.NodeID, "ATT-2: satisfied where the volume runs")
		require.Contains(t, []string{w.Volume.NodeID, w.Volume.MigrationNodeID}, x.NodeID, "ATT-2: and must run")
		require.Contains(t, []string{v.Spec.NodeID, v.Spec.MigrationNodeID}, x.NodeID, "ATT-2: and is not taken from by the same verdict")
		require.True(t, Matches(x, w.Volume.DisableFrontend), "ATT-2: with the frontend as asked")
	}
	checkReason(t, "", *conditions.Get(v.Status.Conditions, v1beta2.VolumeAttachmentReady))
}

// checkReason reports whether a reason is one of the contract's.
func checkReason(t require.TestingT, part string, c v1beta2.Condition) {
	i := slices.IndexFunc(v1beta2.ConditionContracts(), func(x v1beta2.ConditionContract) bool {
		return x.Kind == "VolumeAttachment" && x.Part == part && x.Type == c.Type
	})
	require.GreaterOrEqual(t, i, 0)
	contract := v1beta2.ConditionContracts()[i]
	if c.Status == v1beta2.ConditionTrue {
		require.Contains(t, contract.True, c.Reason)
		return
	}
	require.Contains(t, contract.False, c.Reason)
}
