package change

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// defaults are the settings as they are without Setting objects.
func defaults(name, _ string) string {
	return map[string]string{"default-data-locality": "disabled", "default-replica-count": "3", "snapshot-max-count": "250",
		"default-backup-block-size": "2", "backup-compression-method": "lz4", "default-engine-image": "engine:1",
		"v2-data-engine": "false"}[name]
}

func TestAVolumeGetsTheDefaultsOfTheWebhook(t *testing.T) {
	var in VolumeInput
	require.NoError(t, json.Unmarshal([]byte(`{"Name": "Data", "SIZE": "10Gi", "links": null, "numberOfReplicas": "2"}`), &in),
		"keys in any case, numbers as text")
	v, err := NewVolume("ns", in, VolumeFacts{Setting: defaults})
	require.NoError(t, err)
	require.Equal(t, "data", v.Name)
	require.Equal(t, v1beta2.VolumeSpec{DataEngine: "v1", Size: 10 << 30, NumberOfReplicas: 2, Frontend: "blockdev", AccessMode: "rwo",
		DataLocality: "disabled", Image: "engine:1", BackupCompressionMethod: "lz4", BackupTargetName: "default", BackupBlockSize: 2 << 20,
		SnapshotMaxCount: 250, ReplicaAutoBalance: "ignored", SnapshotDataIntegrity: "ignored", RestoreVolumeRecurringJob: "ignored",
		UnmapMarkSnapChainRemoved: "ignored", ReplicaSoftAntiAffinity: "ignored", ReplicaZoneSoftAntiAffinity: "ignored",
		ReplicaDiskSoftAntiAffinity: "ignored", FreezeFilesystemForSnapshot: "ignored", OfflineRebuilding: "ignored"}, v.Spec)
}

func TestALongNameIsCutAndStaysItsOwn(t *testing.T) {
	first, err := volumeName(strings.Repeat("a", 60) + "1")
	require.NoError(t, err)
	second, err := volumeName(strings.Repeat("a", 60) + "2")
	require.NoError(t, err)
	require.Len(t, first, 40)
	require.NotEqual(t, first, second)
	for _, wrong := range []string{"", "a/b", "-a", "ä"} {
		_, err := volumeName(wrong)
		require.Error(t, err, wrong)
	}
}

func TestSizesAreRoundedUpToWhatDataEnginesTake(t *testing.T) {
	for given, want := range map[Quantity]int64{"1": 2 << 20, "2097152": 2 << 20, "2097153": 4 << 20, "1Gi": 1 << 30, "1.5Gi": 3 << 29} {
		v, err := NewVolume("ns", VolumeInput{Name: "v", Size: given}, VolumeFacts{Setting: defaults})
		require.NoError(t, err)
		require.Equal(t, want, v.Spec.Size, given)
	}
	for _, more := range []Quantity{"18446744073709551617", "9223372036854775807", "100E", "1e1000000"} {
		_, err := NewVolume("ns", VolumeInput{Name: "v", Size: more}, VolumeFacts{Setting: defaults})
		require.ErrorContains(t, err, "more than any disk has", more)
	}
	_, err := NewVolume("ns", VolumeInput{Name: "v", Size: "much"}, VolumeFacts{Setting: defaults})
	require.ErrorContains(t, err, "is no size")
	_, err = NewVolume("ns", VolumeInput{Name: "v", Size: "1Gi", DataEngine: "v2"}, VolumeFacts{Setting: defaults})
	require.ErrorContains(t, err, "switched off by the setting v2-data-engine")
}

// No share manager is made, so that pods would wait for ever for a volume that was bound. A volume that has been shared stays as it is.
func TestAVolumeIsNotSharedAfterItsCreation(t *testing.T) {
	v := &v1beta2.Volume{}
	v.Status.State, v.Spec.AccessMode = v1beta2.VolumeStateDetached, v1beta2.AccessModeReadWriteOnce
	_, _, err := Update(v, "updateAccessMode", map[string]any{"accessMode": "rwx"})
	require.ErrorContains(t, err, "share managers")
	v.Spec.Migratable = true
	_, _, err = Update(v, "updateAccessMode", map[string]any{"accessMode": "rwx"})
	require.NoError(t, err)
	v.Spec.Migratable, v.Spec.AccessMode = false, v1beta2.AccessModeReadWriteMany
	_, _, err = Update(v, "updateAccessMode", map[string]any{"accessMode": "rwx"})
	require.NoError(t, err)
}

// The answer to the ticket before must not be taken for the answer to this one: CSI would mount a device that is not there.
func TestATicketThatComesBackHasAGenerationOfItsOwn(t *testing.T) {
	va := &v1beta2.VolumeAttachment{}
	in := AttachInput{HostID: "node-1", AttachmentID: "csi-1", AttacherType: "csi-attacher"}
	first, needed := NewTicket(in, va)
	require.True(t, needed)
	va.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{"csi-1": {ID: "csi-1", Generation: 7, Satisfied: true}}
	again, needed := NewTicket(in, va)
	require.True(t, needed)
	require.Greater(t, again.Generation, int64(7))
	va.Spec.AttachmentTickets = map[string]v1beta2.AttachmentTicket{"csi-1": *first}
	_, needed = NewTicket(in, va)
	require.False(t, needed, "nothing changes")
	in.HostID = "node-2"
	moved, needed := NewTicket(in, va)
	require.True(t, needed)
	require.Equal(t, first.Generation+1, moved.Generation)
	require.Equal(t, map[string]*v1beta2.AttachmentTicket{"csi-1": nil}, RemovedTickets(DetachInput{ForceDetach: true}, va))
	require.Empty(t, RemovedTickets(DetachInput{AttachmentID: "other"}, va))
}

func TestABackupNamesItsVolumeAndTarget(t *testing.T) {
	v := &v1beta2.Volume{}
	v.Name, v.Namespace = "vol-1", "ns"
	b, err := NewBackup(v, SnapshotInput{Name: "s1", Labels: map[string]string{"a": "b"}}, "0123", nil)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"backup-volume": "vol-1", "backup-target": "default"}, b.Labels)
	require.Equal(t, v1beta2.BackupSpec{SnapshotName: "s1", Labels: map[string]string{"a": "b"}, BackupMode: "incremental"}, b.Spec)
	_, err = NewBackup(v, SnapshotInput{Name: "s1", Labels: map[string]string{"a": ""}}, "0123", nil)
	require.ErrorContains(t, err, `label "a" has no value`)
	_, err = NewBackup(v, SnapshotInput{}, "0123", nil)
	require.Error(t, err)
}
