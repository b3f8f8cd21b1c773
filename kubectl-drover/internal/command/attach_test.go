package command

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

// attachment returns a VolumeAttachment as it is stored.
func (s *scenario) attachment(volume string) *v1beta2.VolumeAttachment {
	s.t.Helper()
	a := &v1beta2.VolumeAttachment{}
	require.NoError(s.t, testkit.Admin(s.t).Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: volume}, a))
	return a
}

// answersTickets plays attach-controller for a volume that nothing holds up: every ticket is satisfied at once.
func (s *scenario) answersTickets(volume string) {
	admin := testkit.Admin(s.t)
	testkit.React(s.t, admin, s.namespace, func(ctx context.Context) error {
		a := &v1beta2.VolumeAttachment{}
		if err := admin.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: volume}, a); err != nil {
			return err
		}
		if a.Status.ObservedGeneration == a.Generation {
			return nil
		}
		a.Status = v1beta2.VolumeAttachmentStatus{ObservedGeneration: a.Generation, Conditions: []v1beta2.Condition{
			{Type: v1beta2.VolumeAttachmentReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonDetached}}}
		a.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{}
		for id, ticket := range a.Spec.AttachmentTickets {
			a.Status.Holder, a.Status.NodeID = id, ticket.NodeID
			a.Status.Conditions[0].Reason = v1beta2.ReasonAttached
			a.Status.AttachmentTicketStatuses[id] = v1beta2.AttachmentTicketStatus{ID: id, Satisfied: true, Generation: ticket.Generation,
				Conditions: []v1beta2.Condition{}}
		}
		return admin.Status().Update(ctx, a)
	}, &v1beta2.VolumeAttachmentList{})
}

// Each command runs with exactly the rights that it declares.
func TestAttachWritesOneTicketAndDetachRemovesIt(t *testing.T) {
	admin := newScenario(t, "common.yaml", "attach/objects.yaml")
	s := admin.allowed("attach")

	t.Run("a ticket beside that of a pod", func(t *testing.T) {
		before := s.attachment("shared-1").Spec.AttachmentTickets["csi-9c2e"]
		got := s.run("attach", "shared-1", "--node", "node-1")
		require.Empty(t, got.err)
		s.golden("attach/attach.txt", got.out)
		require.Equal(t, map[string]v1beta2.AttachmentTicket{"csi-9c2e": before, "by-hand": {ID: "by-hand", Type: v1beta2.AttacherLonghornAPI,
			NodeID: "node-1", Parameters: map[string]string{"disableFrontend": "false"}}}, s.attachment("shared-1").Spec.AttachmentTickets)
	})
	t.Run("the same again writes nothing", func(t *testing.T) {
		version := s.attachment("shared-1").ResourceVersion
		require.Contains(t, s.run("attach", "shared-1", "--node", "node-1").out, "(unchanged)")
		require.Equal(t, version, s.attachment("shared-1").ResourceVersion)
	})
	t.Run("as JSON", func(t *testing.T) {
		s.golden("attach/attach.json", s.run("attach", "shared-1", "--node", "node-1", "-o", "json").out)
	})
	t.Run("as a name", func(t *testing.T) {
		require.Equal(t, "volumeattachment.longhorn.io/shared-1\n", s.run("attach", "shared-1", "--node", "node-1", "-o", "name").out)
	})
	t.Run("another node with the same ticket is refused", func(t *testing.T) {
		got := s.run("attach", "shared-1", "--node", "node-2")
		require.Equal(t, ExitFailed, got.code)
		require.Equal(t, "error: ticket by-hand of volume shared-1 wants node node-1 already, and a ticket's node is not changed: name another "+
			"ticket with --ticket, or end that one with: kubectl drover detach shared-1 --ticket by-hand -n "+s.namespace+"\n", got.err)
	})
	t.Run("a pod's ticket is never removed", func(t *testing.T) {
		got := s.run("detach", "shared-1", "--ticket", "csi-9c2e")
		require.Equal(t, ExitFailed, got.code)
		require.Contains(t, got.err, "ticket csi-9c2e of volume shared-1 is not a person's but of type csi-attacher")
	})
	t.Run("the own ticket is", func(t *testing.T) {
		got := admin.allowed("detach").run("detach", "shared-1")
		require.Empty(t, got.err)
		s.golden("attach/detach.txt", got.out)
		require.NotContains(t, s.attachment("shared-1").Spec.AttachmentTickets, "by-hand")
	})
	t.Run("nothing is left to detach", func(t *testing.T) {
		got := s.run("detach", "shared-1")
		require.Equal(t, ExitFailed, got.code)
		require.Equal(t, "error: no person's ticket is on volume shared-1. It is wanted by csi-9c2e (Kubernetes) on "+
			"node node-2; detach does not end those: delete the pod or object instead\n", got.err)
	})
	t.Run("a node that does not exist", func(t *testing.T) {
		got := s.run("attach", "idle-1", "--node", "other")
		require.Equal(t, ExitFailed, got.code)
		require.Contains(t, got.err, "no Node in namespace "+s.namespace+" is called other, or begins so; there are node-1, node-2")
	})
	t.Run("a volume without a VolumeAttachment", func(t *testing.T) {
		got := s.run("attach", "new-1", "--node", "node-1")
		require.Equal(t, ExitFailed, got.code)
		require.Contains(t, got.err, "volume new-1 has no VolumeAttachment yet, which attach-controller creates")
	})
}

func TestAttachAndDetachWaitForTheAnswer(t *testing.T) {
	s := newScenario(t, "common.yaml")
	for _, object := range s.objects("attach/objects.yaml") {
		if object.GetName() == "idle-1" {
			s.create(object)
		}
	}
	got := s.run("attach", "idle-1", "--node", "node-1", "--wait", "--timeout", "1ms")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.err, "error: volume idle-1: not done after 1ms")
	require.Contains(t, got.err, "; ticket by-hand stays, and is served as soon as it can be; "+
		"end it with: kubectl drover detach idle-1 --ticket by-hand")

	s.answersTickets("idle-1")
	got = s.allowed("attach").run("attach", "idle-1", "--node", "node-1", "--disable-frontend", "--expires", "2h", "--replace", "--wait")
	require.Empty(t, got.err)
	require.Equal(t, "idle-1 is attached to node node-1 for ticket by-hand (written).\n", got.out)
	require.Equal(t, map[string]string{"disableFrontend": "true", "expiresAt": "2026-08-01T14:00:00Z"},
		s.attachment("idle-1").Spec.AttachmentTickets["by-hand"].Parameters)

	got = s.allowed("detach").run("detach", "idle-1", "--wait")
	require.Equal(t, "idle-1: removed ticket by-hand. The volume is detached.\n", got.out)
	require.Empty(t, got.err)
}
