package machine

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// A volume leaves a node that is down while a pod there holds it: the node may be back in a moment, and the pod's mount is dead.
func TestUsersWhoLoseAVolumeGetNewMounts(t *testing.T) {
	ticket := func(attacher, node, frontend string) v1beta2.AttachmentTicket {
		return v1beta2.AttachmentTicket{ID: "1", Type: attacher, NodeID: node,
			Parameters: map[string]string{v1beta2.TicketDisableFrontend: frontend}}
	}
	pod := ticket(v1beta2.AttacherCSI, "x", v1beta2.TicketValueFalse)
	for name, c := range map[string]struct {
		ticket v1beta2.AttachmentTicket
		change func(*fixture)
		want   bool
	}{
		"a pod on its node": {pod, nil, true},
		"a pod on the node of its target": {pod, func(s *fixture) {
			s.Volume.Status.CurrentNodeID, s.Volume.Status.CurrentMigrationNodeID = "y", "x"
		}, true},
		"a person on its node":        {ticket(v1beta2.AttacherLonghornAPI, "x", ""), nil, true},
		"a pod on another node":       {ticket(v1beta2.AttacherCSI, "y", v1beta2.TicketValueFalse), nil, false},
		"only a snapshot on its node": {ticket(v1beta2.AttacherSnapshot, "x", v1beta2.TicketValueAny), nil, false},
		"without a frontend":          {ticket(v1beta2.AttacherLonghornAPI, "x", v1beta2.TicketValueTrue), nil, false},
		"a pod that reaches it by its share": {pod, func(s *fixture) {
			s.Volume.Spec.AccessMode = v1beta2.AccessModeReadWriteMany
		}, false},
		"it stays":                {pod, func(s *fixture) { s.Volume.Spec.NodeID = "x" }, false},
		"it is detaching already": {pod, func(s *fixture) { s.Volume.Status.State = v1beta2.VolumeStateDetaching }, false},
		"it is faulted, and requests that once it can be used again": {pod, func(s *fixture) {
			s.Volume.Status.Robustness = v1beta2.VolumeRobustnessFaulted
		}, false},
		"it is being deleted": {pod, func(s *fixture) { s.Volume.DeletionTimestamp = &metav1.Time{Time: s.Now} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV1, "x", "y")
			s.Volume.Spec.NodeID = ""
			s.Attachment = &v1beta2.VolumeAttachment{Spec: v1beta2.VolumeAttachmentSpec{
				AttachmentTickets: map[string]v1beta2.AttachmentTicket{"1": c.ticket}}}
			if c.change != nil {
				c.change(s)
			}
			v := Decide(s.World)
			require.Equal(t, c.want, v.Status["remountRequestedAt"] != nil)
			require.Equal(t, c.want, v.FreshAttachment)
			s.Attachment = nil
			require.NotContains(t, Decide(s.World).Status, "remountRequestedAt", "the ticket was removed")
		})
	}
}
