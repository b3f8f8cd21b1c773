package csi

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

// drawWorld draws any world, also such as should never be.
func drawWorld(t *rapid.T) World {
	flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
	one := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	w := World{
		Attachment: Attachment{
			Name: attachment, UID: uid, HostName: here, PersistentVolume: one("pv name", "", "pv-1"), Deleting: flag("deleting"),
			HasFinalizer: flag("finalizer"), NodeID: one("noted", "", here, there), Attached: flag("attached"),
			AttachError: one("attach error", "", "x"), DetachError: one("detach error", "", "x"),
		},
		DriverNodeID: one("driver", "", here, there),
		Strays:       rapid.SampledFrom([][]string{nil, {"vol-9"}}).Draw(t, "strays"),
	}
	if flag("metadata") {
		w.Attachment.Metadata = map[string]string{MetadataVolume: "vol-1"}
	}
	if w.Attachment.PersistentVolume != "" && flag("pv") {
		w.PersistentVolume = &PersistentVolume{Name: "pv-1", Driver: one("pv driver", Driver, "other"), Handle: one("handle", "", "vol-1"),
			Deleting: flag("pv deleting"), HasFinalizer: flag("pv finalizer"), ManyNodes: flag("many")}
	}
	if flag("host") {
		w.Host = &Host{OutOfService: flag("out of service")}
	}
	if flag("node") {
		w.Node = &Node{Down: flag("down")}
	}
	if flag("volume") {
		w.Volume = drawVolume(t)
	}
	if flag("tickets") {
		w.Tickets = drawTickets(t)
	}
	return w
}

func drawVolume(t *rapid.T) *Volume {
	one := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	return &Volume{
		Name: "vol-1", State: one("state", "", "creating", "attached", "detached", "attaching", "detaching", "deleting"),
		Robustness: one("robustness", "", "healthy", "faulted"), NodeID: one("nodeID", "", here, there),
		MigrationNodeID: one("migrationNodeID", "", here, there), CurrentNodeID: one("currentNodeID", "", here, there),
		CurrentMigrationNodeID: one("currentMigrationNodeID", "", here, there), Deleting: rapid.Bool().Draw(t, "volume deleting"),
		Standby: rapid.Bool().Draw(t, "standby"), Restoring: rapid.Bool().Draw(t, "restoring"),
		Cloning:    one("cloning", "", "initiated", "failed"),
		AccessMode: one("mode", "rwo", "rwx"), Frontend: one("frontend", "blockdev", "iscsi"), ShareState: one("share", "", "running"),
		Migratable: rapid.Bool().Draw(t, "migratable"),
	}
}

func drawTickets(t *rapid.T) *Tickets {
	tickets := &Tickets{Volume: "vol-1", Deleting: rapid.Bool().Draw(t, "tickets deleting"),
		Blocked: rapid.SampledFrom([]string{"", "no room"}).Draw(t, "blocked"),
		Wanted:  map[string]v1beta2.AttachmentTicket{}, Answers: map[string]v1beta2.AttachmentTicketStatus{}}
	for _, id := range []string{attachment, "csi-2", "share"} {
		kind := map[string]string{"share": v1beta2.AttacherShareManager}[id]
		ticket := v1beta2.AttachmentTicket{ID: id, Type: or(kind, v1beta2.AttacherCSI),
			NodeID: rapid.SampledFrom([]string{here, there}).Draw(t, "ticket's node"), Generation: 1}
		if rapid.Bool().Draw(t, "ticket "+id) {
			tickets.Wanted[id] = ticket
		}
		if rapid.Bool().Draw(t, "answer "+id) {
			reason := rapid.SampledFrom([]string{"", v1beta2.ReasonSatisfied, v1beta2.ReasonAttachedElsewhere, v1beta2.ReasonAttaching,
				"Newer"}).Draw(t, "reason")
			tickets.Answers[id] = answered(id, rapid.Bool().Draw(t, "satisfied"), reason, "Because.")[id]
		}
	}
	tickets.Untouched = len(tickets.Wanted)+len(tickets.Answers) == 0 && tickets.Blocked == ""
	return tickets
}

func has(v Verdict, kind StepKind) int {
	return slices.IndexFunc(v.Steps, func(s Step) bool { return s.Kind == kind })
}

// checkVerdict checks the properties that every world must have.
func checkVerdict(t require.TestingT, w World, v Verdict) {
	a := w.Attachment
	require.NotEmpty(t, v.Outcome)
	if put := has(v, StepPutTicket); put >= 0 {
		mark, hold := has(v, StepMark), has(v, StepHold)
		require.False(t, a.Deleting, "what is being deleted gets no ticket")
		require.True(t, a.HasFinalizer || mark >= 0 && mark < put, "the attachment's finalizer stands before the ticket")
		require.True(t, w.PersistentVolume.HasFinalizer || hold >= 0 && hold < put,
			"the PersistentVolume's finalizer stands before the ticket")
	}
	if has(v, StepRelease) >= 0 {
		_, asked := w.ticket()
		require.True(t, a.Deleting && !asked && len(w.Strays) == 0 && left(w) && v.Confirm, "the finalizer goes last")
		require.False(t, a.Attached, "attached=false is stored by then")
	}
	if i := has(v, StepStatus); i >= 0 {
		wanted := *v.Steps[i].Status
		require.Len(t, v.Steps, 1, "a status is bound to a version that nothing else changes")
		require.NotEqual(t, w.reported(), wanted, "no write when nothing changed")
		require.False(t, wanted.Attached && !a.Attached && a.Deleting, "what is being deleted does not become attached")
		require.False(t, !wanted.Attached && a.Attached && !a.Deleting, "attached stays reported until Kubernetes asks to detach")
		require.False(t, !wanted.Attached && a.Attached && !left(w), "detached is reported when the volume has left")
		require.False(t, wanted.Attached && !a.Attached && wanted.AttachError != "", "attached is no error")
		if wanted.Attached && !a.Attached {
			require.Equal(t, v1beta2.VolumeStateAttached, w.Volume.State, "ATT-2: attached is reported when it is true")
			require.Empty(t, refuse(w))
		}
	}
}

func TestEveryWorldHasOneVerdictThatComesToRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for range 5 {
			v := Decide(w)
			require.Equal(t, v, Decide(w), "deterministic")
			checkVerdict(t, w, v)
			if len(v.Steps) == 0 {
				return
			}
			w = after(w, v)
		}
		require.Empty(t, Decide(w).Steps, "with nothing else changing there is nothing left to do")
	})
}

// peers play a little of what the tickets' decision and the volume's machine do.
func peers(w World) World {
	volume, tickets := *w.Volume, *w.Tickets
	w.Volume, w.Tickets = &volume, &tickets
	_, asked := w.ticket()
	switch {
	case asked && volume.NodeID == "" && volume.State == v1beta2.VolumeStateDetached:
		volume.NodeID = here
	case asked && volume.State == v1beta2.VolumeStateDetached:
		volume.State = v1beta2.VolumeStateAttaching
	case asked && volume.State == v1beta2.VolumeStateAttaching && volume.NodeID != "":
		volume.State, volume.CurrentNodeID = v1beta2.VolumeStateAttached, here
	case asked && volume.State == v1beta2.VolumeStateAttached:
		answer := answered(attachment, true, v1beta2.ReasonSatisfied, "")[attachment]
		answer.Generation = tickets.Wanted[attachment].Generation
		tickets.Answers = map[string]v1beta2.AttachmentTicketStatus{attachment: answer}
	case !asked && volume.NodeID != "":
		volume.NodeID = ""
	case !asked && (volume.State == v1beta2.VolumeStateAttached || volume.State == v1beta2.VolumeStateAttaching):
		volume.State = v1beta2.VolumeStateDetaching
	case volume.State == v1beta2.VolumeStateDetaching:
		volume.State, volume.CurrentNodeID = v1beta2.VolumeStateDetached, ""
	}
	return w
}

// Whatever the order in which the parties act, wherever a pass dies between two writes, and whenever Kubernetes changes
// its mind, the volume ends attached where it is wanted, and released by then where it is not.
func TestEveryHistoryEndsAsKubernetesAsks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := asked()
		act := func() {
			v := Decide(w)
			checkVerdict(t, w, v)
			if n := len(v.Steps); n > 1 {
				v.Steps = v.Steps[:rapid.IntRange(1, n).Draw(t, "steps until the crash")]
			}
			w = after(w, v)
		}
		for range rapid.IntRange(0, 30).Draw(t, "length") {
			switch rapid.IntRange(0, 6).Draw(t, "who") {
			case 0:
				w.Attachment.Deleting = w.Attachment.Deleting || rapid.Bool().Draw(t, "deleted")
			case 1:
				w.Node = &Node{Down: rapid.Bool().Draw(t, "down")}
			case 2, 3:
				w = peers(w)
			default:
				act()
			}
		}
		w.Node = &Node{}
		for range 20 {
			w = after(w, Decide(w))
			w = peers(w)
		}
		if w.Attachment.Deleting {
			require.False(t, w.Attachment.HasFinalizer, "nothing blocks for ever (ALL-3)")
			require.Equal(t, v1beta2.VolumeStateDetached, w.Volume.State)
			return
		}
		require.True(t, w.Attachment.Attached)
		require.Empty(t, w.Attachment.AttachError)
	})
}
