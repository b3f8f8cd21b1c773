package ticket

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// A volume is filled from the one that its source names, until its data is complete or it goes.
func TestTheSourceOfAClone(t *testing.T) {
	going := metav1.NewTime(now)
	for sentence, c := range map[string]struct {
		source, state string
		deleted       *metav1.Time
		want          string
	}{
		"a volume":                         {"vol://a", "", nil, "a"},
		"a snapshot of a volume":           {"snap://a/s", "", nil, "a"},
		"a snapshot without a name":        {"snap://a", "", nil, ""},
		"what is neither":                  {"backup://a/s", "", nil, ""},
		"nothing":                          {"", "", nil, ""},
		"it is being copied":               {"vol://a", v1beta2.CloneInitiated, nil, "a"},
		"its data is complete":             {"vol://a", v1beta2.CloneCopyCompleted, nil, ""},
		"it is ready":                      {"vol://a", v1beta2.CloneCompleted, nil, ""},
		"it waits for the next attempt":    {"vol://a", v1beta2.CloneFailed, nil, ""},
		"it is being deleted":              {"vol://a", v1beta2.CloneInitiated, &going, ""},
		"a snapshot, and is being deleted": {"snap://a/s", "", &going, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: c.deleted}, Spec: v1beta2.VolumeSpec{DataSource: c.source}}
			v.Status.CloneStatus.State = c.state
			require.Equal(t, c.want, SourceOf(v))
		})
	}
}

// A volume is taken over once, where it is wanted and no ticket, answer or condition shows that anybody decided on it.
func TestOnlyAVolumeThatNobodyDecidedOnIsTakenOver(t *testing.T) {
	going := metav1.NewTime(now)
	wanted := func(change func(*v1beta2.Volume)) *v1beta2.Volume {
		v := &v1beta2.Volume{Spec: v1beta2.VolumeSpec{NodeID: "node-1"}}
		change(v)
		return v
	}
	keep := func(*v1beta2.Volume) {}
	require.False(t, NeedsTakeOver(nil, nil))
	require.True(t, NeedsTakeOver(wanted(keep), nil))
	require.False(t, NeedsTakeOver(wanted(func(v *v1beta2.Volume) { v.Spec.NodeID = "" }), nil))
	require.False(t, NeedsTakeOver(wanted(func(v *v1beta2.Volume) { v.DeletionTimestamp = &going }), nil))
	for sentence, c := range map[string]struct {
		change func(*v1beta2.VolumeAttachment)
		want   bool
	}{
		"nothing is known":   {func(*v1beta2.VolumeAttachment) {}, true},
		"it goes":            {func(a *v1beta2.VolumeAttachment) { a.DeletionTimestamp = &going }, false},
		"it was decided on":  {func(a *v1beta2.VolumeAttachment) { a.Status.ObservedGeneration = 1 }, false},
		"it has a condition": {func(a *v1beta2.VolumeAttachment) { a.Status.Conditions = []v1beta2.Condition{{Type: "Blocked"}} }, false},
		"it has a ticket": {func(a *v1beta2.VolumeAttachment) {
			a.Spec.AttachmentTickets = map[string]v1beta2.AttachmentTicket{"a": {}}
		}, false},
		"it has an answer": {func(a *v1beta2.VolumeAttachment) {
			a.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{"a": {}}
		}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			a := &v1beta2.VolumeAttachment{}
			c.change(a)
			require.Equal(t, c.want, NeedsTakeOver(wanted(keep), a))
		})
	}
}

func TestTheUserInterfacesTicketKeepsWhoAttachedTheVolume(t *testing.T) {
	older := func(w *World) { w.Attachment = nil }
	by := func(name string) map[string]string {
		lastBy := volume(func(v *v1beta2.Volume) { v.Spec.LastAttachedBy = name })
		return TakeOver(basic(older, attachedTo("node-1"), lastBy))[UITicket].Parameters
	}
	require.Equal(t, "somebody", by("somebody")[v1beta2.TicketLastAttachedBy])
	require.NotContains(t, by(""), v1beta2.TicketLastAttachedBy, "unknown is no name")
	pods := func(w *World) {
		w.KubernetesAttachments = []KubernetesAttachment{{Name: "csi-a", Node: "node-1", UID: "1"}}
	}
	w := basic(older, attachedTo("node-1"), pods)
	require.Equal(t, v1beta2.AttacherCSI, TakeOver(w)["csi-a"].Parameters[v1beta2.TicketLastAttachedBy])
	w.Attachment = &v1beta2.VolumeAttachment{Spec: v1beta2.VolumeAttachmentSpec{AttachmentTickets: TakeOver(w)}}
	require.Nil(t, TakeOver(w), "taken over once, it is not taken over again")
}

// A ticket of another owner counts only where it could attach the volume.
func TestATicketThatCouldNotAttachTheVolumeIsNotSelectable(t *testing.T) {
	api, pod := v1beta2.AttacherLonghornAPI, v1beta2.AttacherCSI
	rwx := volume(func(v *v1beta2.Volume) { v.Spec.AccessMode = v1beta2.AccessModeReadWriteMany })
	upgrading := func(w *World) { w.Nodes["node-1"].Spec.UpgradeRequested = true }
	for sentence, c := range map[string]struct {
		world      World
		kind, node string
		want       bool
	}{
		"a person's":                      {basic(), api, "node-1", true},
		"a pod's":                         {basic(), pod, "node-1", true},
		"for no node":                     {basic(), api, "", false},
		"for a node that is not known":    {basic(), api, "node-9", false},
		"for a node that is down":         {basic(down("node-1")), pod, "node-1", false},
		"for a node that is upgraded":     {basic(upgrading), pod, "node-1", false},
		"a person's for a cordoned node":  {basic(cordon("node-1")), api, "node-1", false},
		"a pod's for a cordoned node":     {basic(cordon("node-1")), pod, "node-1", true},
		"a person's for another node":     {basic(cordon("node-2"), down("node-3")), api, "node-1", true},
		"a pod's that reaches it shared":  {basic(rwx), pod, "node-1", false},
		"a person's of a shared volume":   {basic(rwx), api, "node-1", true},
		"a share's for the cordoned node": {basic(rwx, cordon("node-1")), v1beta2.AttacherShareManager, "node-1", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			require.Equal(t, c.want, c.world.selectable(v1beta2.AttachmentTicket{Type: c.kind, NodeID: c.node}))
		})
	}
}

// Of what is not known nothing follows: no node, no disk and no VolumeAttachment evicts, holds or orders anything.
func TestWhatIsNotKnownDecidesNothing(t *testing.T) {
	require.False(t, basic().evicted(replicaOn("node-9")), "its node is not known")
	w := basic()
	w.Nodes["node-1"].Spec.Disks = map[string]v1beta2.DiskSpec{"d": {EvictionRequested: true}}
	w.Nodes["node-1"].Status.DiskStatus = map[string]v1beta2.DiskStatus{}
	require.False(t, w.evicted(replicaOn("node-1")), "no disk has its UUID")
	w.Attachment = nil
	require.Empty(t, w.tickets())
	require.Zero(t, Decide(w))
	require.Zero(t, compare("a", "a"))
	require.Equal(t, -compare("a", "b"), compare("b", "a"))
}
