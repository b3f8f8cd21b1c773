package change

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// SnapshotInput names a snapshot, with labels to record.
type SnapshotInput struct {
	Name       string            `json:"name"`
	Labels     map[string]string `json:"labels"`
	BackupMode string            `json:"backupMode"`
}

// ObjectName returns the name of the Snapshot object: in lower case, as the API server wants it and as volumes are named.
func (in SnapshotInput) ObjectName() string { return strings.ToLower(in.Name) }

// NewSnapshot returns the Snapshot object that has a snapshot taken. generated is its name if the client gives none.
func NewSnapshot(v *v1beta2.Volume, in SnapshotInput, generated string) *v1beta2.Snapshot {
	name := in.ObjectName()
	if name == "" {
		name = "snap-" + generated
	}
	return &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: name},
		Spec: v1beta2.SnapshotSpec{Volume: v.Name, CreateSnapshot: true, Labels: in.Labels}}
}

// NewBackup returns the Backup object that has a snapshot copied to the volume's backup target. kubernetes names the users of the volume.
func NewBackup(v *v1beta2.Volume, in SnapshotInput, generated string, kubernetes any) (*v1beta2.Backup, error) {
	if in.Name == "" {
		return nil, fmt.Errorf("name the snapshot to back up: {\"name\": \"<snapshot>\"}")
	}
	labels := map[string]string{}
	maps.Copy(labels, in.Labels)
	for key, value := range labels {
		if strings.TrimSpace(value) == "" {
			return nil, fmt.Errorf("label %q has no value: leave it out, or give it one", key)
		}
	}
	if kubernetes != nil {
		text, err := json.Marshal(kubernetes)
		if err != nil {
			return nil, fmt.Errorf("encoding who uses the volume: %w", err)
		}
		labels["KubernetesStatus"] = string(text)
	}
	target := cmp.Or(v.Spec.BackupTargetName, v1beta2.BackupTargetDefault)
	return &v1beta2.Backup{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: "backup-" + generated, Labels: map[string]string{
			v1beta2.LabelBackupVolume: v1beta2.LabelValue(v.Name), v1beta2.LabelBackupTarget: v1beta2.LabelValue(target)}},
		Spec: v1beta2.BackupSpec{SnapshotName: in.ObjectName(), Labels: labels, BackupMode: cmp.Or(in.BackupMode, "incremental")}}, nil
}
