package csi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

var removeStep = Step{Kind: StepRemoveTicket, Volume: "vol-1"}

func TestADetachmentIsBroughtToItsEndStepByStep(t *testing.T) {
	detached := Verdict{Outcome: OutcomeDetached, Steps: []Step{statusStep(Status{})}, Confirm: true}
	released := Verdict{Outcome: OutcomeDetached, Steps: []Step{{Kind: StepRelease}}, Confirm: true}
	cases := map[string]struct {
		world World
		want  Verdict
	}{
		"the ticket goes first": {deleted(), Verdict{Outcome: OutcomeDetaching, Steps: []Step{removeStep}}},
		"the ticket goes from wherever it is": {
			with(deleted(), func(w *World) { w.Strays = []string{"vol-8", "vol-9"} }),
			Verdict{Outcome: OutcomeDetaching, Steps: []Step{removeStep, {Kind: StepRemoveTicket, Volume: "vol-8"},
				{Kind: StepRemoveTicket, Volume: "vol-9"}}},
		},
		"the volume has to leave":     {unticketed(), Verdict{Outcome: OutcomeDetaching}},
		"then Kubernetes is notified": {vacated(), detached},
		"and the finalizer goes after that stands": {
			with(vacated(), func(w *World) { w.Attachment.Attached, w.Attachment.Metadata = false, nil }), released,
		},
		"why it was never attached stays to be read": {
			with(vacated(), func(w *World) {
				w.Attachment.Attached, w.Attachment.Metadata, w.Attachment.AttachError = false, nil, "why"
			}), released,
		},
		"an error of detaching is over": {
			with(vacated(), func(w *World) {
				w.Attachment.Attached, w.Attachment.Metadata, w.Attachment.DetachError = false, nil, "why"
			}), detached,
		},
		"without the finalizer the end was reported": {with(vacated(), func(w *World) { w.Attachment.HasFinalizer = false }),
			Verdict{Outcome: OutcomeDetached}},
		"without the finalizer a ticket is removed all the same": {with(deleted(), func(w *World) { w.Attachment.HasFinalizer = false }),
			Verdict{Outcome: OutcomeDetaching, Steps: []Step{removeStep}}},
		"a volume that is gone has left": {with(unticketed(), func(w *World) { w.Volume, w.Tickets = nil, nil }),
			detached},
		"with its PersistentVolume gone the noted volume is asked": {with(unticketed(), func(w *World) { w.PersistentVolume = nil }),
			Verdict{Outcome: OutcomeDetaching}},
		"the Kubernetes node is gone": {with(unticketed(), func(w *World) { w.Host, w.Node = nil, nil }),
			detached},
		"the node is declared dead": {with(unticketed(),
			func(w *World) { w.Host.OutOfService, w.Node.Down = true, true }), detached},
		"a snapshot keeps it there": {
			with(unticketed(), func(w *World) {
				w.Tickets.Wanted = map[string]v1beta2.AttachmentTicket{"snapshot-controller-s": {ID: "snapshot-controller-s", NodeID: here}}
			}), detached,
		},
		"a ticket for another node does not keep it there": {
			with(unticketed(), func(w *World) {
				w.Tickets.Wanted = map[string]v1beta2.AttachmentTicket{"csi-2": {ID: "csi-2", NodeID: there}}
			}), Verdict{Outcome: OutcomeDetaching},
		},
		"a share is wherever it is": {
			with(unticketed(), func(w *World) { w.Volume.AccessMode = v1beta2.AccessModeReadWriteMany }), detached,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, Decide(c.world)) })
	}
}

func TestWhereAVolumeIsOrMayStillBe(t *testing.T) {
	cases := map[string]struct {
		volume Volume
		on     bool
	}{
		"detached":                          {Volume{State: "detached"}, false},
		"attached here":                     {Volume{State: "attached", NodeID: here, CurrentNodeID: here}, true},
		"leaving":                           {Volume{State: "detaching", CurrentNodeID: here}, true},
		"coming":                            {Volume{State: "attaching", NodeID: here}, true},
		"about to come":                     {Volume{State: "detached", NodeID: here}, true},
		"called off before it was recorded": {Volume{State: "attaching"}, true},
		"leaving after that":                {Volume{State: "detaching"}, true},
		"elsewhere":                         {Volume{State: "attached", NodeID: there, CurrentNodeID: there}, false},
		"on its way elsewhere":              {Volume{State: "attaching", NodeID: there}, false},
		"leaving another node":              {Volume{State: "detaching", CurrentNodeID: there}, false},
		"migrating from here":               {Volume{State: "attached", NodeID: here, CurrentNodeID: here, MigrationNodeID: there}, true},
		"migrating to here": {Volume{State: "attached", NodeID: there, CurrentNodeID: there, MigrationNodeID: here},
			true},
		"rolled back, its second side is up": {Volume{State: "attached", NodeID: there, CurrentNodeID: there,
			CurrentMigrationNodeID: here}, true},
		"migrated to another node, its first side is up": {Volume{State: "attached", NodeID: there, CurrentNodeID: here}, true},
		"deleting, closed": {Volume{State: "deleting"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.on, c.volume.on(here)) })
	}
}

func TestAVolumeThatDoesNotLeaveReportsWhy(t *testing.T) {
	cases := map[string]struct {
		change func(*World)
		says   []string
	}{
		"its node is down": {func(w *World) { w.Node.Down = true }, []string{"vol-1", here, "down", "out-of-service"}},
		"the rules are blocked": {func(w *World) { w.Tickets.Blocked = "No replica can be reached." },
			[]string{"vol-1", here, "No replica can be reached."}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := with(unticketed(), c.change)
			verdict := Decide(w)
			require.Equal(t, OutcomeStuck, verdict.Outcome)
			require.Len(t, verdict.Steps, 1)
			reported := verdict.Steps[0].Status
			require.True(t, reported.Attached, "it still is")
			for _, word := range c.says {
				require.Contains(t, reported.DetachError, word)
			}
			w = after(w, verdict)
			require.Equal(t, Verdict{Outcome: OutcomeStuck}, Decide(w), "the same is not reported twice")
			w = with(w, func(w *World) { w.Node, w.Tickets = &Node{}, &Tickets{Volume: "vol-1"} })
			require.Equal(t, []Step{statusStep(unticketed().reported())}, Decide(w).Steps, "and is taken back when it is over")
		})
	}
}

func TestAPersistentVolumeIsReleasedByTheLastAttachment(t *testing.T) {
	cases := map[string]struct {
		pv          PersistentVolume
		attachments int
		goes        bool
	}{
		"deleted, without references":    {PersistentVolume{Deleting: true, HasFinalizer: true}, 0, true},
		"deleted, somebody names it":     {PersistentVolume{Deleting: true, HasFinalizer: true}, 1, false},
		"not deleted":                    {PersistentVolume{HasFinalizer: true}, 0, false},
		"deleted, the finalizer is gone": {PersistentVolume{Deleting: true}, 0, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.goes, DecidePersistentVolume(c.pv, c.attachments)) })
	}
}
