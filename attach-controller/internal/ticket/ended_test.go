package ticket

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// ATT-4.
func TestTicketsEndWithTheirOwner(t *testing.T) {
	snapshot := []string{v1beta2.TicketOwnerKind, KindSnapshot, v1beta2.TicketOwnerName, "s", v1beta2.TicketOwnerUID, "uid-s"}
	csi := kubernetesName(volumeName, "node-1")
	check(t, []row{
		{"an owner that exists keeps its ticket",
			basic(ticket("mine", "somebody", "node-1", snapshot...), owner(KindSnapshot, "s", true, "uid-s")), nil},
		{"a ticket whose owner is gone ends", basic(ticket("mine", "somebody", "node-1", snapshot...), owner(KindSnapshot, "s", false, "")),
			[]string{"- mine OwnerGone"}},
		{"another object of the same name is not its owner",
			basic(ticket("mine", "somebody", "node-1", snapshot...), owner(KindSnapshot, "s", true, "other")),
			[]string{"- mine OwnerGone"}},
		{"an owner that was not read is not gone", basic(ticket("mine", "somebody", "node-1", snapshot...)), nil},
		{"an owner of a kind that we do not know is not gone",
			basic(ticket("mine", "somebody", "node-1", v1beta2.TicketOwnerKind, "Unheard",
				v1beta2.TicketOwnerName, "s"), owner("Unheard", "s", false, "")), nil},
		{"half an owner is none", basic(ticket("snapshot-controller-s", v1beta2.AttacherSnapshot, "node-1", v1beta2.TicketOwnerKind,
			KindSnapshot), owner(KindSnapshot, "s", false, "")), nil},
		{"a snapshot's ticket is known by its id",
			basic(ticket("snapshot-controller-s", v1beta2.AttacherSnapshot, "node-1"), owner(KindSnapshot, "s", false, "")),
			[]string{"- snapshot-controller-s OwnerGone"}},
		{"so is a backup's", basic(ticket("backup-controller-b", v1beta2.AttacherBackup, "node-1"), owner(KindBackup, "b", false, "")),
			[]string{"- backup-controller-b OwnerGone"}},
		{"a snapshot's ticket with another id is left alone",
			basic(ticket("s", v1beta2.AttacherSnapshot, "node-1"), owner(KindSnapshot, "s", false, "")), nil},
		{"a pod's ticket is known by the hash of volume and node",
			basic(ticket(csi, v1beta2.AttacherCSI, "node-1"), owner(KindKubernetesAttachment, csi, false, "")),
			[]string{"- " + csi + " OwnerGone"}},
		{"a pod's ticket of another form is left alone",
			basic(ticket("csi-1", v1beta2.AttacherCSI, "node-1"), owner(KindKubernetesAttachment, "csi-1", false, "")), nil},
		{"a ticket for no object ends when its creator removes it", basic(ticket("", v1beta2.AttacherLonghornAPI, "node-1")), nil},
		{"a person's ticket may have an owner, too",
			basic(ticket("longhorn-ui", v1beta2.AttacherLonghornAPI, "node-1", snapshot...), owner(KindSnapshot, "s", false, "")),
			[]string{"- longhorn-ui OwnerGone"}},
	})
	require.NotEqual(t, kubernetesName(volumeName, "node-1"), kubernetesName(volumeName, "node-2"))
	require.Len(t, csi, len("csi-")+64)
}

func TestATicketIDThatWasCutNamesNoObject(t *testing.T) {
	id := v1beta2.TicketID(v1beta2.AttacherSnapshot, strings.Repeat("s", 250))
	_, _, ok := OwnerOf(volumeName, id, v1beta2.AttachmentTicket{ID: id, Type: v1beta2.AttacherSnapshot})
	require.False(t, ok)
}

func TestTicketsEndAtTheirTime(t *testing.T) {
	until := func(at time.Time, more ...string) World {
		return basic(ticket("by-hand", v1beta2.AttacherLonghornAPI, "node-1",
			append(more, v1beta2.TicketExpiresAt, at.Format(time.RFC3339))...))
	}
	check(t, []row{
		{"a ticket ends when its time is over", until(now), []string{"- by-hand Expired"}},
		{"not before", until(now.Add(time.Second)), nil},
		{"a ticket that somebody owns ends with its owner", until(now, v1beta2.TicketOwnerKind, KindSnapshot, v1beta2.TicketOwnerName, "s"),
			nil},
		{"a time that cannot be read never comes",
			basic(ticket("by-hand", v1beta2.AttacherLonghornAPI, "node-1", v1beta2.TicketExpiresAt, "tomorrow")), nil},
	})
	require.Equal(t, now.Add(time.Hour), Decide(until(now.Add(time.Hour))).RequeueAt, "it is evaluated again exactly then")
	require.Zero(t, Decide(until(now)).RequeueAt)
}

func TestCordonedNodesLoseTicketsOfPeople(t *testing.T) {
	withdraw := func(w *World) { w.Settings.DetachWhenCordoned = true }
	mine := ticket("by-hand", v1beta2.AttacherLonghornAPI, "node-1")
	check(t, []row{
		{"if the setting is true", basic(mine, cordon("node-1"), withdraw), []string{"- by-hand Cordoned"}},
		{"not without the setting", basic(mine, cordon("node-1")), nil},
		{"not from other nodes", basic(mine, cordon("node-2"), withdraw), nil},
		{"not those of pods", basic(ticket("csi-1", v1beta2.AttacherCSI, "node-1"), cordon("node-1"), withdraw), nil},
	})
}
