package change

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// ExpandedSize returns the size that a volume gets. A size that is not larger than the volume's changes nothing.
func ExpandedSize(v *v1beta2.Volume, wanted Quantity) (int64, error) {
	size, err := wanted.Bytes()
	switch {
	case err != nil:
		return 0, err
	case size <= 0:
		return 0, errors.New("name the size to expand to, such as 10Gi")
	case v.Spec.Standby:
		return 0, errors.New("it is a standby volume, which has the size of its backups; activate it first")
	case v.Status.Robustness == v1beta2.VolumeRobustnessFaulted:
		return 0, errors.New("it is faulted: none of its replicas can serve; salvage it first")
	}
	return roundUp(size), nil
}

// IsWanted reports whether a claim with this request wants a volume of this size: data engines round sizes up.
func IsWanted(size, requested int64) bool { return roundUp(requested) >= size }

// RefuseRevert returns why a volume is not set back to a snapshot; nil: it may be.
func RefuseRevert(v *v1beta2.Volume, s *v1beta2.Snapshot) error {
	switch {
	case s.Spec.Volume != v.Name || s.Status.MarkRemoved || s.DeletionTimestamp != nil:
		return fmt.Errorf("snapshot %s cannot be reverted to: it is removed, or of another volume", s.Name)
	case v.Spec.MigrationNodeID != "":
		return fmt.Errorf("it moves to node %s: revert it once it has moved", v.Spec.MigrationNodeID)
	case !v.Spec.DisableFrontend || v.Status.State != v1beta2.VolumeStateAttached:
		return errors.New("it is reverted only while it is attached without a block device: detach it, and attach it in maintenance mode " +
			"(disableFrontend)")
	}
	return nil
}

// texts are the actions that write a text, with its key in the input and in the spec.
var texts = map[string]string{
	"updateAccessMode": "accessMode", "updateBackupCompressionMethod": "backupCompressionMethod",
	"updateBackupTargetName": "backupTargetName", "updateDataLocality": "dataLocality",
	"updateReplicaDiskSoftAntiAffinity": "replicaDiskSoftAntiAffinity", "updateReplicaSoftAntiAffinity": "replicaSoftAntiAffinity",
	"updateReplicaZoneSoftAntiAffinity": "replicaZoneSoftAntiAffinity", "updateUnmapMarkSnapChainRemoved": "unmapMarkSnapChainRemoved",
	"offlineReplicaRebuilding": "offlineRebuilding", "updateReplicaAutoBalance": "replicaAutoBalance",
	"updateSnapshotDataIntegrity": "snapshotDataIntegrity", "updateFreezeFilesystemForSnapshot": "freezeFilesystemForSnapshot",
}

// numbers are the actions that write a number, with the keys of input and spec.
var numbers = map[string][2]string{
	"updateReplicaCount": {"replicaCount", "numberOfReplicas"}, "updateSnapshotMaxCount": {"snapshotMaxCount", "snapshotMaxCount"},
	"updateRebuildConcurrentSyncLimit": {"rebuildConcurrentSyncLimit", "rebuildConcurrentSyncLimit"},
	"updateUblkNumberOfQueue":          {"ublkNumberOfQueue", "ublkNumberOfQueue"},
	"updateUblkQueueDepth":             {"ublkQueueDepth", "ublkQueueDepth"},
}

// Update returns the field of a volume's spec that an action writes, and its value.
func Update(v *v1beta2.Volume, action string, in map[string]any) (field string, value any, err error) {
	if field, ok := texts[action]; ok {
		text, ok := input(in, field).(string)
		if !ok {
			return "", nil, fmt.Errorf("the input has no text %q", field)
		}
		return field, text, refuseUpdate(v, field, text)
	}
	if keys, ok := numbers[action]; ok {
		n, err := strconv.Atoi(fmt.Sprint(input(in, keys[0])))
		if err != nil {
			return "", nil, fmt.Errorf("the input has no number %q", keys[0])
		}
		if action == "updateReplicaCount" && v.Status.State != v1beta2.VolumeStateAttached {
			return "", nil, fmt.Errorf("the number of replicas changes only while the volume is attached: it is %s", v.Status.State)
		}
		return keys[1], n, nil
	}
	switch action {
	case "updateSnapshotMaxSize":
		size, err := Quantity(fmt.Sprint(input(in, "snapshotMaxSize"))).Bytes()
		return "snapshotMaxSize", fmt.Sprint(size), err
	case "updateReplicaRebuildingBandwidthLimit":
		return "", nil, refuseUnhonored(VolumeInput{ReplicaRebuildingBandwidthLimit: "1"})
	}
	return "", nil, fmt.Errorf("no field of a volume belongs to %s", action)
}

// input returns a value of the input; its keys match in upper and lower case.
func input(in map[string]any, key string) any {
	for name, value := range in {
		if strings.EqualFold(name, key) {
			return value
		}
	}
	return nil
}

// refuseUpdate refuses a text that no controller of Drover obeys, as for a new volume.
func refuseUpdate(v *v1beta2.Volume, field, text string) error {
	switch field {
	case "accessMode":
		if text != v.Spec.AccessMode && v.Status.State != v1beta2.VolumeStateDetached {
			return fmt.Errorf("the access mode changes only while the volume is detached: it is %s", v.Status.State)
		}
		if text != v.Spec.AccessMode {
			return refuseSharing(text, v.Spec.Migratable)
		}
	case "replicaAutoBalance":
		return refuseUnhonored(VolumeInput{ReplicaAutoBalance: text})
	case "snapshotDataIntegrity":
		return refuseUnhonored(VolumeInput{SnapshotDataIntegrity: text})
	case "freezeFilesystemForSnapshot":
		return refuseUnhonored(VolumeInput{FreezeFilesystemForSnapshot: text})
	}
	return nil
}
