package attachment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

func ticket(kind, node string) v1beta2.AttachmentTicket {
	return v1beta2.AttachmentTicket{Type: kind, NodeID: node}
}

// with is worldWith for one ticket.
func with(id string, t v1beta2.AttachmentTicket) *world.World {
	return worldWith(map[string]v1beta2.AttachmentTicket{id: t})
}

func TestWhyATicketIsNotWritten(t *testing.T) {
	for name, test := range map[string]struct {
		world *world.World
		want  string
	}{
		"the volume was deleted meanwhile": {&world.World{}, "volume vol-1 does not exist any more"},
		"attach-controller has not seen the volume": {func() *world.World {
			w := worldWith(nil)
			w.Attachments.Items = nil
			return w
		}(), "volume vol-1 has no VolumeAttachment yet, which attach-controller creates: see that it runs with: " +
			"kubectl -n longhorn-system get lease drover-attach-controller"},
		"the volume is being deleted": {func() *world.World {
			w := worldWith(nil)
			w.Volumes.Items[0].DeletionTimestamp = &metav1.Time{Time: w.Now}
			return w
		}(), "volume vol-1 is being deleted, and is not attached again"},
		"a ticket of Kubernetes has the id": {with(DefaultTicket, ticket(v1beta2.AttacherCSI, "node-1")),
			"ticket by-hand of volume vol-1 is not a person's but of type csi-attacher: it ends with the pod or object that it is for; see: " +
				"kubectl drover why vol-1 -n longhorn-system"},
		"a ticket of the id wants another node": {with(DefaultTicket, ticket(v1beta2.AttacherLonghornAPI, "node-2")),
			"ticket by-hand of volume vol-1 wants node node-2 already, and a ticket's node is not changed: name another ticket with --ticket, " +
				"or end that one with: kubectl drover detach vol-1 --ticket by-hand -n longhorn-system"},
		"a ticket of the id wants no node": {with(DefaultTicket, ticket(v1beta2.AttacherLonghornAPI, "")),
			"ticket by-hand of volume vol-1 wants node none already, and a ticket's node is not changed: name another ticket with --ticket, " +
				"or end that one with: kubectl drover detach vol-1 --ticket by-hand -n longhorn-system"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, replace := range []bool{false, true} {
				change, err := Attach(test.world, "vol-1", Wish{Ticket: DefaultTicket, Node: "node-1", Replace: replace})
				require.EqualError(t, err, test.want)
				require.Empty(t, change)
			}
		})
	}
}

// Attaching with a device where it was attached without one changes what a person does there at the moment.
func TestATicketThatExistsIsChangedOnlyOnRequest(t *testing.T) {
	w := with(DefaultTicket, ticket(v1beta2.AttacherLonghornAPI, "node-1"))
	change, err := Attach(w, "vol-1", Wish{Ticket: DefaultTicket, Node: "node-1"})
	require.NoError(t, err)
	require.Empty(t, change, "a ticket without parameters is with a device")

	wish := Wish{Ticket: DefaultTicket, Node: "node-1", DisableFrontend: true}
	_, err = Attach(w, "vol-1", wish)
	require.EqualError(t, err, "ticket by-hand of volume vol-1 exists with other parameters (disable-frontend false, expires never), "+
		"and may be another person's: change it with --replace, or name another ticket with --ticket")
	wish.Replace = true
	change, err = Attach(w, "vol-1", wish)
	require.NoError(t, err)
	require.Equal(t, Change{DefaultTicket: {ID: DefaultTicket, Type: v1beta2.AttacherLonghornAPI, NodeID: "node-1", Generation: 1,
		Parameters: map[string]string{v1beta2.TicketDisableFrontend: "true"}}}, change, "the answer to the ticket before is none to this one")
}

func TestDetachEndsTicketsOfPeopleAlone(t *testing.T) {
	pod, person := ticket(v1beta2.AttacherCSI, "node-1"), ticket(v1beta2.AttacherLonghornAPI, "node-1")
	unplaced := ticket(v1beta2.AttacherSnapshot, "")
	for name, test := range map[string]struct {
		tickets map[string]v1beta2.AttachmentTicket
		which   Which
		want    string
	}{
		"one of Kubernetes is named": {map[string]v1beta2.AttachmentTicket{"csi-1": pod}, Which{Ticket: "csi-1"},
			"ticket csi-1 of volume vol-1 is not a person's but of type csi-attacher: it ends with the pod or object that it is for; see: " +
				"kubectl drover why vol-1 -n longhorn-system"},
		"there is none": {nil, Which{},
			"volume vol-1 has no ticket: no one wants it attached; see: kubectl drover why vol-1 -n longhorn-system"},
		"there is none at all of what is selected": {nil, Which{Ticket: "mine", Node: "node-1"},
			"volume vol-1 has no ticket with id mine for node node-1: no one wants it attached; see: kubectl drover why vol-1 -n longhorn-system"},
		"there are only those of others": {map[string]v1beta2.AttachmentTicket{"csi-1": pod, "snap": unplaced}, Which{All: true},
			"no person's ticket is on volume vol-1. It is wanted by csi-1 (Kubernetes) on node node-1, snap (snapshot) on node none; " +
				"detach does not end those: delete the pod or object instead"},
		"a person's is for another node": {map[string]v1beta2.AttachmentTicket{DefaultTicket: person}, Which{All: true, Node: "node-2"},
			"no person's ticket for node node-2 is on volume vol-1. It is wanted by by-hand (a person) on node node-1; " +
				"detach does not end those: delete the pod or object instead"},
		"another person's has another id": {map[string]v1beta2.AttachmentTicket{"b": person, "a": person}, Which{},
			"volume vol-1 has no ticket by-hand; other people's are a, b: name one with --ticket, or remove them with --all"},
		"an id that is not there": {map[string]v1beta2.AttachmentTicket{"a": person}, Which{Ticket: "mine"},
			"no person's ticket with id mine is on volume vol-1. It is wanted by a (a person) on node node-1; " +
				"detach does not end those: delete the pod or object instead"},
	} {
		t.Run(name, func(t *testing.T) {
			change, err := Detach(worldWith(test.tickets), "vol-1", test.which)
			require.EqualError(t, err, test.want)
			require.Empty(t, change)
		})
	}
	_, err := Detach(&world.World{}, "vol-1", Which{})
	require.EqualError(t, err, "volume vol-1 does not exist any more")

	change, err := Detach(worldWith(map[string]v1beta2.AttachmentTicket{"a": person, "b": ticket(v1beta2.AttacherLonghornAPI, "node-2"),
		"csi-1": pod}), "vol-1", Which{All: true, Node: "node-1"})
	require.NoError(t, err)
	require.Equal(t, Change{"a": nil}, change)
}

func TestATicketOfKubernetesIsRefusedAsThatAlsoWhereItWantsAnotherNode(t *testing.T) {
	_, err := Attach(with(DefaultTicket, ticket(v1beta2.AttacherCSI, "node-2")), "vol-1",
		Wish{Ticket: DefaultTicket, Node: "node-1", Replace: true})
	require.ErrorContains(t, err, "is not a person's but of type csi-attacher")
}

// attach-controller answers a generation: one that is not higher would be answered already.
func TestAChangedTicketHasTheNextGeneration(t *testing.T) {
	stored := ticket(v1beta2.AttacherLonghornAPI, "node-1")
	stored.Generation, stored.Parameters = 7, map[string]string{v1beta2.TicketExpiresAt: "2026-08-01T13:00:00Z"}
	w := with(DefaultTicket, stored)
	wish := Wish{Ticket: DefaultTicket, Node: "node-1", Replace: true}
	change, err := Attach(w, "vol-1", wish)
	require.NoError(t, err)
	require.EqualValues(t, 8, change[DefaultTicket].Generation)
	value, named := change[DefaultTicket].Parameters[v1beta2.TicketExpiresAt]
	require.True(t, named, "a merge keeps what it does not name")
	require.Empty(t, value)
	wish.ExpiresAfter = 2 * time.Hour
	change, err = Attach(w, "vol-1", wish)
	require.NoError(t, err)
	require.Equal(t, "2026-08-01T14:00:00Z", change[DefaultTicket].Parameters[v1beta2.TicketExpiresAt])
	wish.ExpiresAfter = time.Hour
	change, err = Attach(w, "vol-1", wish)
	require.NoError(t, err)
	require.Empty(t, change, "it expires then already")
}

func TestOtherPeoplesTicketsAreNamedInOrder(t *testing.T) {
	person, tickets := ticket(v1beta2.AttacherLonghornAPI, "node-1"), map[string]v1beta2.AttachmentTicket{}
	for _, id := range []string{"e", "c", "a", "d", "b", "f", "g"} {
		tickets[id] = person
	}
	_, err := Detach(worldWith(tickets), "vol-1", Which{})
	require.ErrorContains(t, err, "other people's are a, b, c, d, e, f, g: name one")
}
