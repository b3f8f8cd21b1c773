package ticket

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestRowP(t *testing.T) {
	wanted := func(node string) change { return volume(func(v *v1beta2.Volume) { v.Spec.NodeID = node }) }
	for name, c := range map[string]struct {
		world   World
		current string
		want    string
	}{
		"where the volume is wanted, even without a replica": {basic(wanted("node-3")), "node-1", "node-3"},
		"where it is wanted, even on a cordoned node":        {basic(wanted("node-3"), cordon("node-3")), "", "node-3"},
		"where it is wanted, even when that is not answering": {basic(wanted("node-3"),
			ready("node-3", v1beta2.ConditionFalse, v1beta2.ReasonManagerPodDown)), "", "node-3"},
		"not where it is wanted when that is down": {basic(wanted("node-3"), down("node-3")), "", "node-1"},
		"where it is wanted by a user, even when that is down": {basic(wanted("node-3"), down("node-3"),
			ticket("csi-1", v1beta2.AttacherCSI, "node-3")), "", "node-3"},
		"where it is wanted by a user, even when that is gone": {basic(wanted("node-3"), noNodeOf("node-3"),
			ticket("api", v1beta2.AttacherLonghornAPI, "node-3")), "node-1", "node-3"},
		"not where a snapshot wants it when that is down": {basic(wanted("node-3"), down("node-3"),
			ticket("s", v1beta2.AttacherSnapshot, "node-3")), "", "node-1"},
		"not where a pod of a shared volume runs when that is down": {basic(wanted("node-3"), down("node-3"), sharedVolume,
			ticket("csi-1", v1beta2.AttacherCSI, "node-3")), "", "node-1"},
		"where a user waits for it": {basic(ticket("csi-1", v1beta2.AttacherCSI, "node-3")), "node-1", "node-3"},
		"where the user waits who is first": {basic(ticket("csi-1", v1beta2.AttacherCSI, "node-3"),
			ticket("api", v1beta2.AttacherLonghornAPI, "node-2")), "node-1", "node-2"},
		"not where a user waits whose node is not ready": {basic(ticket("csi-1", v1beta2.AttacherCSI, "node-3"),
			ready("node-3", v1beta2.ConditionFalse, v1beta2.ReasonManagerPodDown)), "node-1", "node-1"},
		"not where a user waits and a strict-local volume has no data": {basic(strictLocal,
			ticket("csi-1", v1beta2.AttacherCSI, "node-3")), "node-1", "node-1"},
		"not where a user waits for a volume without data": {basic(func(w *World) { w.Replicas = nil },
			ticket("csi-1", v1beta2.AttacherCSI, "node-3")), "", ""},
		"not where it is wanted when that does not exist":    {basic(wanted("node-3"), noNodeOf("node-3")), "", "node-1"},
		"where the ticket was":                               {basic(), "node-2", "node-2"},
		"not where the ticket was when that is no candidate": {basic(), "node-3", "node-1"},
		"the first candidate by name":                        {basic(), "", "node-1"},
		"not a node that is down":                            {basic(down("node-1")), "node-1", "node-2"},
		"not a node that is not ready": {basic(ready("node-1", v1beta2.ConditionFalse,
			v1beta2.ReasonManagerPodDown)), "node-1", "node-2"},
		"not a cordoned node":                             {basic(cordon("node-1")), "node-1", "node-2"},
		"not an upgrading node":                           {basic(upgrading("node-1")), "node-1", "node-2"},
		"not a node whose replica failed":                 {basic(failed("node-1")), "node-1", "node-2"},
		"not a node whose replica is still being rebuilt": {basic(func(w *World) { w.Replicas[0].Spec.HealthyAt = "" }), "", "node-2"},
		"not a node whose replica is being deleted": {basic(func(w *World) {
			w.Replicas[0].DeletionTimestamp = &metav1.Time{Time: now}
		}), "", "node-2"},
		"a volume that was never opened has all its replicas": {basic(func(w *World) {
			w.Replicas[0].Spec.HealthyAt,
				w.Replicas[1].Spec.HealthyAt = "", ""
		}), "", "node-1"},
		"no node":                   {basic(down("node-1"), cordon("node-2")), "", ""},
		"a volume without replicas": {basic(func(w *World) { w.Replicas = nil }), "", ""},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, c.world.place(c.current)) })
	}
}

var sharedVolume = volume(func(v *v1beta2.Volume) { v.Spec.AccessMode = v1beta2.AccessModeReadWriteMany })

func TestGenerationsCountTheChangesOfATicket(t *testing.T) {
	needs := volume(func(v *v1beta2.Volume) { v.Status.RestoreRequired = true })
	const id = "volume-restore-controller-vol-1"
	answered := func(w *World) {
		w.Attachment.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{id: {ID: id, Generation: 7}}
	}
	require.EqualValues(t, 1, Decide(basic(needs)).Changes[0].Ticket.Generation, "a new ticket begins with 1")
	require.EqualValues(t, 8, Decide(basic(needs, answered)).Changes[0].Ticket.Generation,
		"one that is written again continues after its last answer")
	moved := Decide(basic(needs, answered, own(v1beta2.AttacherRestore, "node-2", "true"), down("node-2"))).Changes[0]
	require.Equal(t, WhyMoved, moved.Why)
	require.EqualValues(t, 2, moved.Ticket.Generation, "a change counts up from the ticket")
}

func TestAnOlderTicketIsAdoptedAsItIs(t *testing.T) {
	older := ticket("volume-restore-controller-vol-1", v1beta2.AttacherRestore, "node-2", v1beta2.TicketDisableFrontend, "true",
		v1beta2.TicketLastAttachedBy, "")
	require.Empty(t, Decide(basic(volume(func(v *v1beta2.Volume) { v.Status.RestoreRequired = true }), older)).Changes)
}
