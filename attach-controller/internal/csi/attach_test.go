package csi

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestAnAttachmentIsBroughtToItsEndStepByStep(t *testing.T) {
	cases := map[string]struct {
		world World
		want  Verdict
	}{
		"finalizers and node id stand before the ticket": {
			asked(),
			Verdict{Outcome: OutcomeAttaching, Steps: []Step{{Kind: StepMark, NodeID: here}, {Kind: StepHold}, putStep(1)}},
		},
		"what a crash left out is completed": {
			with(asked(), func(w *World) { w.Attachment.HasFinalizer, w.Attachment.NodeID = true, here }),
			Verdict{Outcome: OutcomeAttaching, Steps: []Step{{Kind: StepHold}, putStep(1)}},
		},
		"a ticket of the same name that was answered before continues its count": {
			with(ticketed(), func(w *World) {
				w.Tickets.Wanted = nil
				w.Tickets.Answers = map[string]v1beta2.AttachmentTicketStatus{attachment: {Generation: 4}}
			}),
			Verdict{Outcome: OutcomeAttaching, Steps: []Step{putStep(5)}},
		},
		"a ticket of a former attachment of the same name is replaced": {
			with(ticketed(), func(w *World) {
				old := ownTicket(2)
				old.Parameters = map[string]string{"ownerUID": "another"}
				w.Tickets.Wanted[attachment] = old
			}),
			Verdict{Outcome: OutcomeAttaching, Steps: []Step{putStep(3)}},
		},
		"a ticket for another node is replaced": {
			with(ticketed(), func(w *World) {
				old := ownTicket(1)
				old.NodeID = there
				w.Tickets.Wanted[attachment] = old
			}),
			Verdict{Outcome: OutcomeAttaching, Steps: []Step{putStep(2)}},
		},
		"a ticket that an earlier Longhorn created asks for the same and stays": {
			with(ticketed(), func(w *World) {
				w.Tickets.Wanted[attachment] = v1beta2.AttachmentTicket{ID: attachment, Type: v1beta2.AttacherCSI, NodeID: here}
			}),
			Verdict{Outcome: OutcomeAttaching},
		},
		"without the object for the ticket there are no finalizers": {
			with(asked(), func(w *World) { w.Tickets = nil }),
			Verdict{Outcome: OutcomeAttaching},
		},
		"a volume that was attached before there were tickets is taken over first": {
			with(asked(), func(w *World) { w.Tickets.Untouched, w.Volume.NodeID = true, there }),
			Verdict{Outcome: OutcomeAttaching},
		},
		"a volume that never had a ticket is not": {
			with(asked(), func(w *World) { w.Tickets.Untouched = true }),
			Verdict{Outcome: OutcomeAttaching, Steps: []Step{{Kind: StepMark, NodeID: here}, {Kind: StepHold}, putStep(1)}},
		},
		"a ticket without an answer waits": {ticketed(), Verdict{Outcome: OutcomeAttaching}},
		"an answer to an older ticket does not count": {
			with(satisfied(), func(w *World) {
				w.Tickets.Wanted = map[string]v1beta2.AttachmentTicket{attachment: ownTicket(2)}
			}),
			Verdict{Outcome: OutcomeAttaching},
		},
		"an answer that the volume does not confirm yet waits for the volume": {
			with(satisfied(), func(w *World) { w.Volume.CurrentNodeID = "" }),
			Verdict{Outcome: OutcomeAttaching},
		},
		"a satisfied ticket is reported": {
			satisfied(),
			Verdict{Outcome: OutcomeAttached, Steps: []Step{statusStep(Status{Attached: true,
				Metadata: map[string]string{MetadataVolume: "vol-1", MetadataNode: here}})}},
		},
		"the second side of a live migration is attached, too": {
			with(satisfied(), func(w *World) {
				w.Volume.Migratable, w.Volume.AccessMode = true, v1beta2.AccessModeReadWriteMany
				w.Volume.NodeID, w.Volume.CurrentNodeID, w.Volume.CurrentMigrationNodeID = there, there, here
			}),
			Verdict{Outcome: OutcomeAttached, Steps: []Step{statusStep(Status{Attached: true,
				Metadata: map[string]string{MetadataVolume: "vol-1", MetadataNode: here}})}},
		},
		"success clears the error": {
			with(satisfied(), func(w *World) { w.Attachment.AttachError = "before" }),
			Verdict{Outcome: OutcomeAttached, Steps: []Step{statusStep(Status{Attached: true,
				Metadata: map[string]string{MetadataVolume: "vol-1", MetadataNode: here}})}},
		},
		"progress clears an error that is over": {
			with(ticketed(), func(w *World) { w.Attachment.AttachError = "before" }),
			Verdict{Outcome: OutcomeAttaching, Steps: []Step{statusStep(Status{})}},
		},
		"attached stays reported while the volume recovers": {
			with(attached(), func(w *World) {
				w.Volume.State, w.Volume.CurrentNodeID = v1beta2.VolumeStateDetaching, ""
				w.Tickets.Answers = answered(attachment, false, v1beta2.ReasonNodeNotReady, "Down.")
			}),
			Verdict{Outcome: OutcomeAttached},
		},
		"attached stays reported when a new attachment would be refused": {
			with(attached(), func(w *World) { w.Node.Down, w.PersistentVolume.Deleting = true, true }),
			Verdict{Outcome: OutcomeAttached},
		},
		"a ticket that was removed is written again as long as Kubernetes wants the volume": {
			with(attached(), func(w *World) { w.Tickets.Wanted = nil }),
			Verdict{Outcome: OutcomeAttached, Steps: []Step{putStep(2)}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, Decide(c.world)) })
	}
}

func TestATicketThatIsHeldUpReportsWhy(t *testing.T) {
	cases := map[string]struct {
		change func(*World)
		says   []string
	}{
		"another node has the volume": {func(w *World) {
			w.Volume.State, w.Volume.NodeID, w.Volume.CurrentNodeID = v1beta2.VolumeStateAttached, there, there
			w.Tickets.Wanted["csi-2"] = v1beta2.AttachmentTicket{ID: "csi-2", Type: v1beta2.AttacherCSI, NodeID: there}
			w.Tickets.Answers = answered("csi-2", true, v1beta2.ReasonSatisfied, "")
			w.Tickets.Answers[attachment] = answered(attachment, false, v1beta2.ReasonAttachedElsewhere,
				"Remove the other ticket.")[attachment]
		}, []string{"vol-1", here, "AttachedElsewhere", `held by node node-2 for csi-attacher "csi-2"`, "Remove the other ticket."}},
		"background work has the volume": {func(w *World) {
			w.Volume.State, w.Volume.NodeID, w.Volume.CurrentNodeID = v1beta2.VolumeStateAttached, there, there
			w.Tickets.Wanted["s"] = v1beta2.AttachmentTicket{ID: "s", Type: v1beta2.AttacherSnapshot, NodeID: there}
			w.Tickets.Answers = answered("s", true, v1beta2.ReasonSatisfied, "")
			w.Tickets.Answers[attachment] = answered(attachment, false, v1beta2.ReasonAttachedElsewhere, "Soon.")[attachment]
		}, []string{"(AttachedElsewhere; held by node node-2): Soon."}},
		"the holder is unknown": {func(w *World) {
			w.Volume.NodeID = there
			w.Tickets.Answers = answered(attachment, false, v1beta2.ReasonAttachedElsewhere, "")
		}, []string{"vol-1", "held by node node-2", "kubectl"}},
		"the ticket's own answer": {func(w *World) {
			w.Tickets.Answers = answered(attachment, false, v1beta2.ReasonDataLocality, "The only replica is on node-2.")
		}, []string{"DataLocality", "The only replica is on node-2."}},
		"an answer of a newer version": {func(w *World) {
			w.Tickets.Answers = answered(attachment, false, "Newer", "Wait for it.")
		}, []string{"Newer", "Wait for it."}},
		"what the rules wait for is outside": {func(w *World) {
			w.Tickets.Blocked = "No disk has 10 GiB."
			w.Tickets.Answers = answered(attachment, false, v1beta2.ReasonAttaching, "")
		}, []string{"vol-1", "No disk has 10 GiB."}},
		"the node went down before the volume came": {func(w *World) { w.Node.Down = true }, []string{"vol-1", here, "down"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := with(ticketed(), c.change)
			verdict := Decide(w)
			require.Equal(t, OutcomeHeldUp, verdict.Outcome)
			require.Len(t, verdict.Steps, 1)
			require.Equal(t, statusStep(Status{AttachError: verdict.Steps[0].Status.AttachError}), verdict.Steps[0])
			for _, word := range c.says {
				require.Contains(t, verdict.Steps[0].Status.AttachError, word)
			}
			require.Empty(t, Decide(after(w, verdict)).Steps, "the same is not reported twice")
		})
	}
}

// Kubernetes refuses a longer error, and with it the whole status.
func TestALongErrorIsCut(t *testing.T) {
	w := ticketed()
	w.Tickets.Blocked = strings.Repeat("No disk has 10 GiB — ", 100)
	w.Tickets.Answers = answered(attachment, false, v1beta2.ReasonAttaching, "")
	verdict := Decide(w)
	require.Len(t, verdict.Steps, 1)
	text := verdict.Steps[0].Status.AttachError
	require.LessOrEqual(t, len(text), 1024)
	require.Contains(t, text, "No disk has 10 GiB")
	require.True(t, utf8.ValidString(text))
	require.Empty(t, Decide(after(w, verdict)).Steps, "the same is not reported twice")
}

func TestATicketUnderWayIsNoError(t *testing.T) {
	for _, reason := range underWay {
		w := ticketed()
		w.Tickets.Answers = answered(attachment, false, reason, "Soon.")
		require.Equal(t, Verdict{Outcome: OutcomeAttaching}, Decide(w), reason)
	}
}

func TestASharedVolumeIsAttachedWhereverItsShareRuns(t *testing.T) {
	share := v1beta2.TicketID(v1beta2.AttacherShareManager, "vol-1")
	running := with(ticketed(), func(w *World) {
		w.PersistentVolume.ManyNodes = true
		w.Volume.AccessMode, w.Volume.ShareState = v1beta2.AccessModeReadWriteMany, "running"
		w.Volume.State, w.Volume.NodeID, w.Volume.CurrentNodeID = v1beta2.VolumeStateAttached, there, there
		w.Tickets.Wanted[share] = v1beta2.AttachmentTicket{ID: share, Type: v1beta2.AttacherShareManager, NodeID: there}
		w.Tickets.Answers = answered(share, true, v1beta2.ReasonSatisfied, "")
		w.Tickets.Answers[attachment] = answered(attachment, false, v1beta2.ReasonWaitingForShare, "")[attachment]
	})
	require.Equal(t, OutcomeAttached, Decide(running).Outcome)
	cases := map[string]func(*World){
		"no share yet":               func(w *World) { delete(w.Tickets.Wanted, share) },
		"the share starts":           func(w *World) { w.Volume.ShareState = "starting" },
		"its ticket waits":           func(w *World) { w.Tickets.Answers = answered(share, false, v1beta2.ReasonAttaching, "") },
		"its volume is not read yet": func(w *World) { w.Volume.State = v1beta2.VolumeStateAttaching },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			w := with(running, func(w *World) {
				volume, tickets := *w.Volume, *w.Tickets
				tickets.Wanted = map[string]v1beta2.AttachmentTicket{attachment: w.Tickets.Wanted[attachment],
					share: w.Tickets.Wanted[share]}
				w.Volume, w.Tickets = &volume, &tickets
			}, change)
			require.Equal(t, Verdict{Outcome: OutcomeAttaching}, Decide(w))
		})
	}
	stopped := with(running, func(w *World) {
		w.Tickets.Answers = answered(share, false, v1beta2.ReasonNodeNotReady, "node-2 is down.")
	})
	require.Contains(t, Decide(stopped).Steps[0].Status.AttachError, "node-2 is down.")
}
