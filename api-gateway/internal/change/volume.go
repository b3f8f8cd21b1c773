package change

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"drover.dev/drover/shared/api/v1beta2"
)

// VolumeInput is a client's input to create a volume.
type VolumeInput struct {
	Name                            string        `json:"name"`
	Size                            Quantity      `json:"size"`
	SnapshotMaxSize                 Quantity      `json:"snapshotMaxSize"`
	BackupBlockSize                 Quantity      `json:"backupBlockSize"`
	NumberOfReplicas                Count         `json:"numberOfReplicas"`
	StaleReplicaTimeout             Count         `json:"staleReplicaTimeout"`
	SnapshotMaxCount                Count         `json:"snapshotMaxCount"`
	RebuildConcurrentSyncLimit      Count         `json:"rebuildConcurrentSyncLimit"`
	ReplicaRebuildingBandwidthLimit Quantity      `json:"replicaRebuildingBandwidthLimit"`
	UblkQueueDepth                  Count         `json:"ublkQueueDepth"`
	UblkNumberOfQueue               Count         `json:"ublkNumberOfQueue"`
	NvmeTCPNrIOQueues               Count         `json:"nvmeTcpNrIoQueues"`
	Frontend                        string        `json:"frontend"`
	FromBackup                      string        `json:"fromBackup"`
	RestoreVolumeRecurringJob       string        `json:"restoreVolumeRecurringJob"`
	DataSource                      string        `json:"dataSource"`
	CloneMode                       string        `json:"cloneMode"`
	DataLocality                    string        `json:"dataLocality"`
	Image                           string        `json:"image"`
	BackingImage                    string        `json:"backingImage"`
	SnapshotDataIntegrity           string        `json:"snapshotDataIntegrity"`
	UnmapMarkSnapChainRemoved       string        `json:"unmapMarkSnapChainRemoved"`
	BackupCompressionMethod         string        `json:"backupCompressionMethod"`
	ReplicaSoftAntiAffinity         string        `json:"replicaSoftAntiAffinity"`
	ReplicaZoneSoftAntiAffinity     string        `json:"replicaZoneSoftAntiAffinity"`
	ReplicaDiskSoftAntiAffinity     string        `json:"replicaDiskSoftAntiAffinity"`
	ReplicaAutoBalance              string        `json:"replicaAutoBalance"`
	DataEngine                      string        `json:"dataEngine"`
	FreezeFilesystemForSnapshot     string        `json:"freezeFilesystemForSnapshot"`
	BackupTargetName                string        `json:"backupTargetName"`
	AccessMode                      string        `json:"accessMode"`
	OfflineRebuilding               string        `json:"offlineRebuilding"`
	Standby                         bool          `json:"standby"`
	RevisionCounterDisabled         bool          `json:"revisionCounterDisabled"`
	Migratable                      bool          `json:"migratable"`
	Encrypted                       bool          `json:"encrypted"`
	DiskSelector                    []string      `json:"diskSelector"`
	NodeSelector                    []string      `json:"nodeSelector"`
	TopologyRequirement             []Topology    `json:"topologyRequirement"`
	DataLayout                      *DataLayout   `json:"dataLayout"`
	RecurringJobSelector            []JobSelector `json:"recurringJobSelector"`
}

// Topology is a place where replicas may lie.
type Topology struct {
	Zone   string `json:"zone"`
	Region string `json:"region"`
}

// DataLayout states how v2 data lies over the replicas.
type DataLayout struct {
	Type         string `json:"type"`
	Mode         string `json:"mode"`
	DataChunks   Count  `json:"dataChunks"`
	ParityChunks Count  `json:"parityChunks"`
	StripSizeKB  Count  `json:"stripSizeKB"`
}

// JobSelector names a recurring job, or a group of them.
type JobSelector struct {
	Name    string `json:"name"`
	IsGroup bool   `json:"isGroup"`
}

// VolumeFacts are the surroundings of a new volume.
type VolumeFacts struct {
	// Setting returns the value of a setting for a data engine.
	Setting func(name, dataEngine string) string
	// DiskTags and NodeTags are the tags that exist.
	DiskTags, NodeTags []string
	// Source is the volume of dataSource, Snapshot its snapshot; nil if it does not exist, or is not named.
	Source   *v1beta2.Volume
	Snapshot *v1beta2.Snapshot
	// RestoreSize is the size of the volume in the backup that fromBackup names; 0 if it is unknown.
	RestoreSize int64
}

const (
	maxName  = 40
	sizeUnit = 2 << 20
	mebibyte = 1 << 20

	ignored = "ignored"
)

// NewVolume returns the volume to create.
func NewVolume(namespace string, in VolumeInput, f VolumeFacts) (*v1beta2.Volume, error) {
	name, err := volumeName(in.Name)
	if err != nil {
		return nil, err
	}
	if err := refuseUnhonored(in); err != nil {
		return nil, err
	}
	if err := refuseSelectors(in, f); err != nil {
		return nil, err
	}
	engine := cmp.Or(in.DataEngine, v1beta2.DataEngineV1)
	spec := specOf(in, engine, f.Setting)
	if err := setSizes(&spec, in, f); err != nil {
		return nil, err
	}
	setNumbers(&spec, in, engine, f.Setting)
	if err := refuseEngine(spec, in, f); err != nil {
		return nil, err
	}
	return &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labelsOf(in, spec)}, Spec: spec}, nil
}

// volumeName returns the name of a volume as it is stored: in lower case, and with at most 40 characters.
func volumeName(name string) (string, error) {
	name = v1beta2.VolumeLabelValue(strings.ToLower(name))
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 || len(name) > maxName {
		return "", fmt.Errorf("name %q of a volume: %s", name, strings.Join(problems, ", "))
	}
	return name, nil
}

// specOf returns the spec without its sizes and numbers, with the defaults of texts.
func specOf(in VolumeInput, engine string, setting func(name, dataEngine string) string) v1beta2.VolumeSpec {
	spec := v1beta2.VolumeSpec{DataEngine: engine, Frontend: in.Frontend, FromBackup: in.FromBackup,
		DataSource: strings.ToLower(in.DataSource),
		CloneMode:  in.CloneMode, BackingImage: in.BackingImage, Standby: in.Standby,
		RevisionCounterDisabled: in.RevisionCounterDisabled, Migratable: in.Migratable, Encrypted: in.Encrypted,
		DataLocality:                cmp.Or(in.DataLocality, setting("default-data-locality", engine)),
		AccessMode:                  cmp.Or(in.AccessMode, v1beta2.AccessModeReadWriteOnce),
		Image:                       cmp.Or(in.Image, setting(imageSetting(engine), engine)),
		BackupCompressionMethod:     cmp.Or(in.BackupCompressionMethod, setting("backup-compression-method", engine)),
		BackupTargetName:            cmp.Or(in.BackupTargetName, v1beta2.BackupTargetDefault),
		ReplicaAutoBalance:          cmp.Or(in.ReplicaAutoBalance, ignored),
		SnapshotDataIntegrity:       cmp.Or(in.SnapshotDataIntegrity, ignored),
		RestoreVolumeRecurringJob:   cmp.Or(in.RestoreVolumeRecurringJob, ignored),
		UnmapMarkSnapChainRemoved:   cmp.Or(in.UnmapMarkSnapChainRemoved, ignored),
		ReplicaSoftAntiAffinity:     cmp.Or(in.ReplicaSoftAntiAffinity, ignored),
		ReplicaZoneSoftAntiAffinity: cmp.Or(in.ReplicaZoneSoftAntiAffinity, ignored),
		ReplicaDiskSoftAntiAffinity: cmp.Or(in.ReplicaDiskSoftAntiAffinity, ignored),
		FreezeFilesystemForSnapshot: cmp.Or(in.FreezeFilesystemForSnapshot, ignored),
		OfflineRebuilding:           cmp.Or(in.OfflineRebuilding, ignored),
		DiskSelector:                slices.Clone(in.DiskSelector), NodeSelector: slices.Clone(in.NodeSelector)}
	if spec.Frontend == "" && !in.Standby {
		spec.Frontend = "blockdev"
	}
	if engine == v1beta2.DataEngineV2 && in.UnmapMarkSnapChainRemoved == "" {
		spec.UnmapMarkSnapChainRemoved = "disabled"
	}
	if spec.CloneMode == "" && in.DataSource != "" {
		spec.CloneMode = "full-copy"
	}
	if spec.DataLocality == "strict-local" {
		spec.RevisionCounterDisabled = true
	}
	if l := in.DataLayout; l != nil {
		spec.DataLayout = v1beta2.DataLayout{Type: l.Type, Mode: l.Mode}
	}
	return spec
}

func imageSetting(engine string) string {
	if engine == v1beta2.DataEngineV2 {
		return "default-instance-manager-image"
	}
	return "default-engine-image"
}

// setSizes sets the sizes. A restored volume has the size of the backed-up volume, a clone the size of its source.
func setSizes(spec *v1beta2.VolumeSpec, in VolumeInput, f VolumeFacts) error {
	size, err := in.Size.Bytes()
	if err != nil {
		return fmt.Errorf("size: %w", err)
	}
	switch {
	case in.DataSource != "" && f.Source != nil && size != 0 && roundUp(size) != f.Source.Spec.Size:
		return fmt.Errorf("size %d: a copy of volume %s has its size, %d", size, f.Source.Name, f.Source.Spec.Size)
	case in.DataSource != "" && f.Source != nil:
		size = f.Source.Spec.Size
	case in.FromBackup != "" && f.RestoreSize > 0:
		size = f.RestoreSize
	}
	if size <= 0 {
		return errors.New("size must be more than 0 bytes")
	}
	spec.Size = roundUp(size)
	if spec.SnapshotMaxSize, err = in.SnapshotMaxSize.Bytes(); err != nil {
		return fmt.Errorf("snapshotMaxSize: %w", err)
	}
	if spec.SnapshotMaxSize != 0 && spec.SnapshotMaxSize < 2*spec.Size {
		return fmt.Errorf("snapshotMaxSize %d: the snapshots of a volume of %d bytes may need twice as much", spec.SnapshotMaxSize, spec.Size)
	}
	if spec.BackupBlockSize, err = in.BackupBlockSize.Bytes(); err != nil {
		return fmt.Errorf("backupBlockSize: %w", err)
	}
	if spec.BackupBlockSize == 0 {
		spec.BackupBlockSize = atoi(f.Setting("default-backup-block-size", spec.DataEngine)) * mebibyte
	}
	return nil
}

// setNumbers sets the numbers; 0 takes the default of the setting.
func setNumbers(spec *v1beta2.VolumeSpec, in VolumeInput, engine string, setting func(name, dataEngine string) string) {
	spec.NumberOfReplicas = cmp.Or(int(in.NumberOfReplicas), int(atoi(setting("default-replica-count", engine))))
	if spec.DataLocality == "strict-local" && in.NumberOfReplicas == 0 {
		spec.NumberOfReplicas = 1
	}
	spec.SnapshotMaxCount = cmp.Or(int(in.SnapshotMaxCount), int(atoi(setting("snapshot-max-count", engine))))
	spec.StaleReplicaTimeout, spec.RebuildConcurrentSyncLimit = int(in.StaleReplicaTimeout), int(in.RebuildConcurrentSyncLimit)
	spec.UblkQueueDepth, spec.UblkNumberOfQueue = int(in.UblkQueueDepth), int(in.UblkNumberOfQueue)
	spec.NvmeTCPNrIOQueues = int(in.NvmeTCPNrIOQueues)
}

// roundUp returns a size as data engines take it: a multiple of 2 MiB.
func roundUp(size int64) int64 { return (size + sizeUnit - 1) / sizeUnit * sizeUnit }

// atoi returns the number of a setting, which was checked when it was stored.
func atoi(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// JobLabel returns a volume's label of a recurring job, or of a group of them.
func JobLabel(j JobSelector) string {
	if j.IsGroup {
		return v1beta2.LabelRecurringGroupPrefix + j.Name
	}
	return v1beta2.LabelRecurringJobPrefix + j.Name
}

// JobsOf returns the recurring jobs and groups that labels name.
func JobsOf(labels map[string]string) []JobSelector {
	out := []JobSelector{}
	for label, value := range labels {
		if value != v1beta2.RecurringEnabled || label == v1beta2.LabelRecurringSource {
			continue
		}
		if name, isGroup := strings.CutPrefix(label, v1beta2.LabelRecurringGroupPrefix); isGroup {
			out = append(out, JobSelector{Name: name, IsGroup: true})
		} else if name, isJob := strings.CutPrefix(label, v1beta2.LabelRecurringJobPrefix); isJob {
			out = append(out, JobSelector{Name: name})
		}
	}
	slices.SortFunc(out, func(a, b JobSelector) int { return cmp.Compare(JobLabel(a), JobLabel(b)) })
	return out
}

func labelsOf(in VolumeInput, spec v1beta2.VolumeSpec) map[string]string {
	labels := map[string]string{v1beta2.LabelBackupTarget: spec.BackupTargetName}
	for _, j := range in.RecurringJobSelector {
		labels[JobLabel(j)] = v1beta2.RecurringEnabled
	}
	if len(in.RecurringJobSelector) == 0 {
		labels[v1beta2.LabelRecurringGroupPrefix+v1beta2.RecurringGroupDefault] = v1beta2.RecurringEnabled
	}
	if _, query, found := strings.Cut(in.FromBackup, "?"); found {
		for pair := range strings.SplitSeq(query, "&") {
			if volume, ok := strings.CutPrefix(pair, "volume="); ok {
				labels[v1beta2.LabelBackupVolume] = v1beta2.LabelValue(volume)
			}
		}
	}
	return labels
}
