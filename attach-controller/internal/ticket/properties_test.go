package ticket

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

func sorted(tickets map[string]v1beta2.AttachmentTicket) []v1beta2.AttachmentTicket {
	var out []v1beta2.AttachmentTicket
	for _, id := range slices.Sorted(maps.Keys(tickets)) {
		out = append(out, tickets[id])
	}
	return out
}

var nodeNames = []string{"", "node-1", "node-2", "node-3", "node-9"}

func anyNode(t *rapid.T, label string) string { return rapid.SampledFrom(nodeNames).Draw(t, label) }

// anyWorld is any volume, with any tickets of ours and of others, on any nodes.
func anyWorld(t *rapid.T) World {
	w := basic()
	flag := func(label string) bool { return rapid.Bool().Draw(t, label) }
	rarely := func(label string) bool { return rapid.IntRange(0, 7).Draw(t, label) == 0 }
	v := w.Volume
	v.Spec.NodeID = anyNode(t, "wanted")
	v.Spec.AccessMode = rapid.SampledFrom([]string{"", "rwo", "rwx"}).Draw(t, "mode")
	v.Spec.Migratable, v.Spec.DisableFrontend = flag("migratable"), flag("frontend")
	v.Spec.Size = int64(rapid.SampledFrom([]int{10, 20}).Draw(t, "size"))
	v.Spec.OfflineRebuilding = rapid.SampledFrom([]string{"", "ignored", "enabled", "disabled"}).Draw(t, "offline")
	v.Spec.DataSource = rapid.SampledFrom([]string{"", "", "vol://other", "snap://other/s", "snap://broken"}).Draw(t, "source")
	v.Status.CloneStatus.State = rapid.SampledFrom([]string{"", "initiated", "completed", "failed"}).Draw(t, "clone")
	v.Status.State = rapid.SampledFrom([]string{"", "creating", "attached", "detached", "attaching", "detaching"}).Draw(t, "state")
	v.Status.Robustness = rapid.SampledFrom([]string{"", "healthy", "degraded", "faulted", "unknown"}).Draw(t, "robust")
	v.Status.RestoreRequired = rarely("restore")
	if rarely("deleting") {
		v.DeletionTimestamp = &metav1.Time{Time: now}
	}
	for i := range w.Replicas {
		if flag("failed") {
			w.Replicas[i].Spec.FailedAt = "then"
		}
		if rarely("new") {
			w.Replicas[i].Spec.HealthyAt = ""
		}
	}
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		if rarely("down") {
			down(name)(&w)
		}
		if rarely("cordoned") {
			cordon(name)(&w)
		}
		w.Nodes[name].Spec.UpgradeRequested, w.Nodes[name].Spec.EvictionRequested = rarely("upgrading"), rarely("evicted")
	}
	w.Settings = Settings{flag("auto-salvage"), flag("withdraw"), flag("offline")}
	if flag("share") {
		w.ShareManager = &v1beta2.ShareManager{Status: v1beta2.ShareManagerStatus{OwnerID: anyNode(t, "share")}}
	}
	anyTickets(t, &w)
	return w
}

func anyTickets(t *rapid.T, w *World) {
	for _, attacher := range append(slices.Clone(produced), v1beta2.AttacherSnapshot, v1beta2.AttacherBackup, v1beta2.AttacherCSI,
		v1beta2.AttacherLonghornAPI, "unheard") {
		if rapid.IntRange(0, 3).Draw(t, "has") != 0 {
			continue
		}
		id := rapid.SampledFrom([]string{v1beta2.TicketID(attacher, volumeName), "by-" + attacher}).Draw(t, "id")
		var parameters []string
		for _, p := range [][]string{nil, {v1beta2.TicketOwnerKind, KindSnapshot, v1beta2.TicketOwnerName, "s", v1beta2.TicketOwnerUID,
			"uid-s"},
			{v1beta2.TicketExpiresAt, now.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "until")) * time.Hour).Format(time.RFC3339)}} {
			if rapid.Bool().Draw(t, "parameter") {
				parameters = append(parameters, p...)
			}
		}
		ticket(id, attacher, anyNode(t, "node"), parameters...)(w)
	}
	for _, o := range []Owner{{KindSnapshot, "s"}, {KindSnapshot, volumeName}, {KindBackup, volumeName}} {
		if rapid.Bool().Draw(t, "known") {
			owner(o.Kind, o.Name, rapid.Bool().Draw(t, "exists"), "uid-s")(w)
		}
	}
	if rapid.Bool().Draw(t, "unanswered") {
		w.Attachment.Status.ObservedGeneration = 0
	}
}

func TestEveryWorldHasAValidVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		before := w.Attachment.DeepCopy()
		v := Decide(w)
		require.Equal(t, before, w.Attachment, "deciding changes nothing")
		require.Equal(t, v, Decide(w), "the same world has the same verdict")
		require.True(t, slices.IsSortedFunc(v.Changes, func(a, b Change) int { return strings.Compare(a.ID, b.ID) }))
		require.True(t, v.RequeueAt.IsZero() || v.RequeueAt.After(w.Now), "it requeues into the future only")
		for _, c := range v.Changes {
			checkChange(t, w, c)
		}
		require.Empty(t, Decide(after(w, v.Changes)).Changes, "what was decided stays decided")
	})
}

func checkChange(t *rapid.T, w World, c Change) {
	stored, exists := w.Attachment.Spec.AttachmentTickets[c.ID]
	require.Equal(t, exists, c.Before != nil)
	require.False(t, w.Volume.DeletionTimestamp != nil, "tickets of a volume that is being deleted go with it")
	if c.Ticket == nil {
		require.True(t, exists)
		require.True(t, ours(c.ID, stored) || c.Why != WhyDone, "a ticket of others ends for a reason of its own only")
		if c.Why == WhyOwnerGone {
			presence, known := w.Owners[c.Owner]
			require.True(t, known, "unknown is not gone")
			require.True(t, !presence.Exists || presence.UID != "")
		}
		return
	}
	require.True(t, ours(c.ID, *c.Ticket), "only our own tickets are written")
	require.Equal(t, c.ID, c.Ticket.ID)
	require.Greater(t, c.Ticket.Generation, stored.Generation, "every change counts")
	row := c.Ticket.Type != v1beta2.AttacherShareManager && c.Ticket.NodeID != ""
	withUser := c.Ticket.NodeID == w.Volume.Spec.NodeID && w.usedOn(c.Ticket.NodeID)
	require.True(t, !row || withUser || !v1beta2.IsNodeDown(w.Nodes[c.Ticket.NodeID]),
		"no work is placed on a node that is down, unless a user holds the volume there")
}

func TestATakeOverAlwaysHoldsTheVolume(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		w.Attachment = nil
		for _, node := range []string{"node-1", "node-2"} {
			if rapid.Bool().Draw(t, "pod") {
				w.KubernetesAttachments = append(w.KubernetesAttachments, KubernetesAttachment{Name: "csi-" + node, Node: node})
			}
		}
		tickets := TakeOver(w)
		require.Equal(t, tickets, TakeOver(w))
		require.Equal(t, w.Volume.Spec.NodeID != "" && w.Volume.DeletionTimestamp == nil, len(tickets) > 0)
		for id, x := range tickets {
			require.Equal(t, id, x.ID)
		}
	})
}
