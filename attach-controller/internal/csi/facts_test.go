package csi

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestWhatIsTakenFromKubernetes(t *testing.T) {
	now, name := metav1.Now(), "pv-1"
	va := &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: attachment, UID: uid, DeletionTimestamp: &now, Finalizers: []string{"other", Finalizer},
			Annotations: map[string]string{NodeIDAnnotation: "id"}},
		Spec: storagev1.VolumeAttachmentSpec{NodeName: here, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}},
		Status: storagev1.VolumeAttachmentStatus{Attached: true, AttachmentMetadata: map[string]string{"a": "b"},
			AttachError: &storagev1.VolumeError{Message: "x"}, DetachError: &storagev1.VolumeError{Message: "y"}},
	}
	require.Equal(t, Attachment{Name: attachment, UID: uid, HostName: here, PersistentVolume: "pv-1", Deleting: true, HasFinalizer: true,
		NodeID: "id", Attached: true, Metadata: map[string]string{"a": "b"}, AttachError: "x", DetachError: "y"}, FromAttachment(va))
	require.Equal(t, Attachment{}, FromAttachment(&storagev1.VolumeAttachment{}))

	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	require.Equal(t, PersistentVolume{Name: name}, FromPersistentVolume(pv), "a volume without CSI has no driver")
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: Driver, VolumeHandle: "vol-1"}
	pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadOnlyMany}
	require.Equal(t, PersistentVolume{Name: name, Driver: Driver, Handle: "vol-1", ManyNodes: true}, FromPersistentVolume(pv))

	node := &storagev1.CSINode{Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "other", NodeID: "x"}}}}
	require.Empty(t, FromCSINode(node))
	node.Spec.Drivers = append(node.Spec.Drivers, storagev1.CSINodeDriver{Name: Driver, NodeID: "id"})
	require.Equal(t, "id", FromCSINode(node))

	host := &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: corev1.TaintNodeUnreachable}}}}
	require.Equal(t, Host{}, FromHost(host), "unreachable is not dead")
	host.Spec.Taints[0].Key = corev1.TaintNodeOutOfService
	require.Equal(t, Host{OutOfService: true}, FromHost(host))
}

func TestWhatIsTakenFromAVolume(t *testing.T) {
	cases := map[string]struct {
		change func(*v1beta2.Volume)
		want   func(*Volume)
	}{
		"defaults are filled in": {func(*v1beta2.Volume) {}, func(*Volume) {}},
		"a copy that still follows its backups": {
			func(v *v1beta2.Volume) { v.Spec.Standby = true }, func(v *Volume) { v.Standby = true }},
		"a copy that is being activated": {
			func(v *v1beta2.Volume) { v.Status.IsStandby = true }, func(v *Volume) { v.Standby = true }},
		"a restore that has not begun": {
			func(v *v1beta2.Volume) { v.Spec.FromBackup = "s3://" }, func(v *Volume) { v.Restoring = true }},
		"a restore under way": {
			func(v *v1beta2.Volume) { v.Status.RestoreInitiated, v.Status.RestoreRequired = true, true },
			func(v *Volume) { v.Restoring = true }},
		"a restore that is done": {
			func(v *v1beta2.Volume) { v.Spec.FromBackup, v.Status.RestoreInitiated = "s3://", true }, func(*Volume) {}},
		"a restore that failed": {func(v *v1beta2.Volume) {
			v.Status.RestoreInitiated, v.Status.RestoreRequired = true, true
			v.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.VolumeFaulted, Status: v1beta2.ConditionTrue,
				Message: "No such backup."}}
		}, func(v *Volume) { v.Restoring, v.Fault = true, "No such backup." }},
		"a volume with data, which is not filled any more": {func(v *v1beta2.Volume) {
			v.Spec.FromBackup, v.Spec.DataSource, v.Status.CurrentImage = "s3://", "vol://a", "image"
		}, func(*Volume) {}},
		"a clone that has not begun": {
			func(v *v1beta2.Volume) { v.Spec.DataSource = "vol://a" }, func(v *Volume) { v.Cloning = cloneNotBegun }},
		"a clone under way": {
			func(v *v1beta2.Volume) { v.Spec.DataSource, v.Status.CloneStatus.State = "vol://a", "initiated" },
			func(v *Volume) { v.Cloning = "initiated" }},
		"a clone that has its data": {
			func(v *v1beta2.Volume) {
				v.Spec.DataSource, v.Status.CloneStatus.State = "vol://a", "copy-completed-awaiting-healthy"
			}, func(*Volume) {}},
		"a clone that failed": {
			func(v *v1beta2.Volume) { v.Spec.DataSource, v.Status.CloneStatus.State = "vol://a", "failed" },
			func(v *Volume) { v.Cloning = cloneFailed }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			volume := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol-1"}}
			c.change(volume)
			want := Volume{Name: "vol-1", AccessMode: v1beta2.AccessModeReadWriteOnce, Frontend: frontendBlockDevice}
			c.want(&want)
			require.Equal(t, want, FromVolume(volume))
		})
	}
}

func TestWhatBlocksIsTakenFromTheReadyCondition(t *testing.T) {
	va := &v1beta2.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "vol-1"}}
	for reason, want := range map[string]string{v1beta2.ReasonBlocked: "why", v1beta2.ReasonFaulted: "why", v1beta2.ReasonAttaching: "",
		"Newer": ""} {
		va.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.VolumeAttachmentReady, Reason: reason, Message: "why"}}
		require.Equal(t, Tickets{Volume: "vol-1", Blocked: want}, FromTickets(va), reason)
	}
	va.Status.Conditions = nil
	require.True(t, FromTickets(va).Untouched)
	va.Status.ObservedGeneration = 1
	require.False(t, FromTickets(va).Untouched, "it was touched")
}
