package present

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// decoded returns a volume as a client sees it.
func decoded(t *testing.T, f VolumeFacts) map[string]any {
	t.Helper()
	text, err := json.Marshal(NewVolume("http://a", f))
	require.NoError(t, err)
	out := map[string]any{}
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

// Clients call functions of these fields: null ends a page.
func TestAVolumeWithoutAnythingHasNoNullThatEndsAPage(t *testing.T) {
	v := decoded(t, VolumeFacts{Volume: &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "v"}}})
	for _, key := range []string{"links", "actions", "conditions", "controllers", "replicas", "rebuildStatus", "restoreStatus", "backupStatus",
		"diskSelector", "nodeSelector", "topologyRequirement", "kubernetesStatus", "cloneStatus", "volumeAttachment", "state", "robustness"} {
		require.NotNil(t, v[key], key)
	}
	require.Nil(t, v["purgeStatus"], "null when nothing is purged, as clients know it")
	require.Equal(t, "", v["state"])
	require.Equal(t, "", v["robustness"], "before the first status")
	require.Equal(t, false, v["ready"])
}

func TestATimeIsInUTCWithTheNameOfItsZone(t *testing.T) {
	at := time.Date(2026, 8, 21, 11, 16, 52, 0, time.FixedZone("CEST", 7200))
	require.Equal(t, "2026-08-21 09:16:52 +0000 UTC", Timestamp(metav1.NewTime(at)))
	require.Equal(t, "", Timestamp(metav1.Time{}))
}

func TestAVolumeIsReadyUnlessTheFirstReasonSaysWhyNot(t *testing.T) {
	placed := []v1beta2.Condition{{Type: v1beta2.VolumeScheduled, Status: v1beta2.ConditionTrue}}
	for _, c := range []struct {
		name, want string
		volume     v1beta2.Volume
	}{
		{"detached with places", "", v1beta2.Volume{Status: v1beta2.VolumeStatus{State: "detached", Conditions: placed}}},
		{"attached", "", v1beta2.Volume{Spec: v1beta2.VolumeSpec{NodeID: "n"}, Status: v1beta2.VolumeStatus{State: "attached"}}},
		{"new", "wanted on no node", v1beta2.Volume{}},
		{"detaching", "is detaching", v1beta2.Volume{Status: v1beta2.VolumeStatus{State: "detaching"}}},
		{"detached without places", "without a place", v1beta2.Volume{Status: v1beta2.VolumeStatus{State: "detached"}}},
		{"faulted", "is faulted", v1beta2.Volume{Status: v1beta2.VolumeStatus{State: "detached", Robustness: "faulted", Conditions: placed}}},
		{"a clone that is filled", "being filled", v1beta2.Volume{Spec: v1beta2.VolumeSpec{DataSource: "vol://a"},
			Status: v1beta2.VolumeStatus{State: "detached", Conditions: placed}}},
		{"a clone that is there", "", v1beta2.Volume{Spec: v1beta2.VolumeSpec{DataSource: "vol://a"},
			Status: v1beta2.VolumeStatus{State: "detached", Conditions: placed, CloneStatus: v1beta2.VolumeCloneStatus{State: "completed"}}}},
		{"a restoration", "being restored", v1beta2.Volume{Status: v1beta2.VolumeStatus{State: "detached", Conditions: placed,
			RestoreRequired: true}}},
	} {
		why := whyNotReady(VolumeFacts{Volume: &c.volume})
		require.Contains(t, why, c.want, c.name)
		require.Equal(t, c.want == "", why == "", c.name)
	}
}

// The answer to an older generation is no answer in a volume, which CSI reads before it mounts; the list of attachments shows it as it is
// stored.
func TestATicketIsSatisfiedOnlyByTheAnswerToItsGeneration(t *testing.T) {
	va := &v1beta2.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "v"}}
	va.Spec.AttachmentTickets = map[string]v1beta2.AttachmentTicket{"": {NodeID: "n", Generation: 2}}
	va.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{"": {Satisfied: true, Generation: 1}}
	f := VolumeFacts{Volume: &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "v"}}, Attachment: va}
	require.False(t, NewVolume("", f).VolumeAttachment.Attachments[""].Satisfied)
	require.True(t, NewVolumeAttachment("", va).Attachments[""].Satisfied)
	va.Status.AttachmentTicketStatuses[""] = v1beta2.AttachmentTicketStatus{Satisfied: true, Generation: 2}
	require.True(t, NewVolume("", f).VolumeAttachment.Attachments[""].Satisfied)
}

// A v2 volume has the device of its frontend, and the smaller size while it grows.
func TestAV2VolumeHasTheDeviceOfItsFrontend(t *testing.T) {
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Spec: v1beta2.VolumeSpec{DataEngine: "v2", Size: 20, NodeID: "b"},
		Status: v1beta2.VolumeStatus{State: "attached", CurrentNodeID: "b"}}
	e := &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: "v-e-0"}, Spec: v1beta2.EngineSpec{NodeID: "a"},
		Status: v1beta2.EngineStatus{CurrentSize: 20, CurrentState: "running"}}
	frontend := &v1beta2.EngineFrontend{Spec: v1beta2.EngineFrontendSpec{EngineName: "v-e-0", NodeID: "b"},
		Status: v1beta2.EngineFrontendStatus{Endpoint: "/dev/longhorn/v", CurrentSize: 10}}
	f := VolumeFacts{Volume: v, Engines: []*v1beta2.Engine{e}, Frontends: []*v1beta2.EngineFrontend{frontend}}
	c := NewVolume("", f).Controllers[0]
	require.Equal(t, []string{"b", "/dev/longhorn/v", "10"}, []string{c.HostID, c.Endpoint, c.Size})
	v.Spec.DisableFrontend = true
	require.Empty(t, NewVolume("", f).Controllers[0].Endpoint)
}
