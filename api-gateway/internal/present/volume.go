package present

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/volumeusers"
)

// VolumeFacts are the objects that a volume's resource is computed from.
type VolumeFacts struct {
	Volume     *v1beta2.Volume
	Engines    []*v1beta2.Engine
	Frontends  []*v1beta2.EngineFrontend
	Replicas   []*v1beta2.Replica
	Attachment *v1beta2.VolumeAttachment // nil: there is none yet
	Backups    []*v1beta2.Backup
	Users      volumeusers.Users
}

// Volume is a volume as clients see it.
type Volume struct {
	wire.Meta
	VolumeSpec
	VolumeStatus

	Controllers      []Controller      `json:"controllers"`
	Replicas         []Replica         `json:"replicas"`
	RebuildStatus    []RebuildStatus   `json:"rebuildStatus"`
	RestoreStatus    []RestoreStatus   `json:"restoreStatus"`
	PurgeStatus      []PurgeStatus     `json:"purgeStatus"`
	BackupStatus     []BackupStatus    `json:"backupStatus"`
	VolumeAttachment *NestedAttachment `json:"volumeAttachment"`
}

// VolumeSpec has the wanted properties of a volume. Sizes are decimal strings.
type VolumeSpec struct {
	Name                        string           `json:"name"`
	Size                        string           `json:"size"`
	SnapshotMaxSize             string           `json:"snapshotMaxSize"`
	BackupBlockSize             string           `json:"backupBlockSize"`
	NumberOfReplicas            int              `json:"numberOfReplicas"`
	StaleReplicaTimeout         int              `json:"staleReplicaTimeout"`
	RebuildConcurrentSyncLimit  int              `json:"rebuildConcurrentSyncLimit"`
	SnapshotMaxCount            int              `json:"snapshotMaxCount"`
	ReplicaRebuildingBandwidth  int64            `json:"replicaRebuildingBandwidthLimit"`
	UblkQueueDepth              int              `json:"ublkQueueDepth"`
	UblkNumberOfQueue           int              `json:"ublkNumberOfQueue"`
	NvmeTCPNrIOQueues           int              `json:"nvmeTcpNrIoQueues"`
	Frontend                    string           `json:"frontend"`
	FromBackup                  string           `json:"fromBackup"`
	RestoreVolumeRecurringJob   string           `json:"restoreVolumeRecurringJob"`
	DataSource                  string           `json:"dataSource"`
	CloneMode                   string           `json:"cloneMode"`
	DataLocality                string           `json:"dataLocality"`
	Image                       string           `json:"image"`
	BackingImage                string           `json:"backingImage"`
	LastAttachedBy              string           `json:"lastAttachedBy"`
	SnapshotDataIntegrity       string           `json:"snapshotDataIntegrity"`
	UnmapMarkSnapChainRemoved   string           `json:"unmapMarkSnapChainRemoved"`
	BackupCompressionMethod     string           `json:"backupCompressionMethod"`
	ReplicaSoftAntiAffinity     string           `json:"replicaSoftAntiAffinity"`
	ReplicaZoneSoftAntiAffinity string           `json:"replicaZoneSoftAntiAffinity"`
	ReplicaDiskSoftAntiAffinity string           `json:"replicaDiskSoftAntiAffinity"`
	ReplicaAutoBalance          string           `json:"replicaAutoBalance"`
	DataEngine                  string           `json:"dataEngine"`
	FreezeFilesystemForSnapshot string           `json:"freezeFilesystemForSnapshot"`
	BackupTargetName            string           `json:"backupTargetName"`
	AccessMode                  string           `json:"accessMode"`
	OfflineRebuilding           string           `json:"offlineRebuilding"`
	DisableFrontend             bool             `json:"disableFrontend"`
	Standby                     bool             `json:"standby"`
	RevisionCounterDisabled     bool             `json:"revisionCounterDisabled"`
	Migratable                  bool             `json:"migratable"`
	Encrypted                   bool             `json:"encrypted"`
	DiskSelector                []string         `json:"diskSelector"`
	NodeSelector                []string         `json:"nodeSelector"`
	TopologyRequirement         []Topology       `json:"topologyRequirement"`
	DataLayout                  DataLayout       `json:"dataLayout"`
	RecurringJobSelector        []map[string]any `json:"recurringJobSelector"`
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
	DataChunks   int    `json:"dataChunks"`
	ParityChunks int    `json:"parityChunks"`
	StripSizeKB  int    `json:"stripSizeKB"`
}

// VolumeStatus is the observed part of a volume.
type VolumeStatus struct {
	Created          string               `json:"created"`
	State            string               `json:"state"`
	Robustness       string               `json:"robustness"`
	CurrentImage     string               `json:"currentImage"`
	LastBackup       string               `json:"lastBackup"`
	LastBackupAt     string               `json:"lastBackupAt"`
	ShareEndpoint    string               `json:"shareEndpoint"`
	ShareState       string               `json:"shareState"`
	RestoreRequired  bool                 `json:"restoreRequired"`
	RestoreInitiated bool                 `json:"restoreInitiated"`
	Ready            bool                 `json:"ready"`
	NotReadyMessage  string               `json:"notReadyMessage"`
	Conditions       map[string]Condition `json:"conditions"`
	KubernetesStatus KubernetesStatus     `json:"kubernetesStatus"`
	CloneStatus      CloneStatus          `json:"cloneStatus"`
}

// CloneStatus is the progress of a clone.
type CloneStatus struct {
	SourceVolume         string `json:"sourceVolume"`
	Snapshot             string `json:"snapshot"`
	State                string `json:"state"`
	AttemptCount         int    `json:"attemptCount"`
	NextAllowedAttemptAt string `json:"nextAllowedAttemptAt"`
}

// Condition is a condition as clients see it.
type Condition struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	LastProbeTime      string `json:"lastProbeTime"`
	LastTransitionTime string `json:"lastTransitionTime"`
	Reason             string `json:"reason"`
	Message            string `json:"message"`
}

// NewVolume returns a volume as clients see it; links begin with base.
func NewVolume(base string, f VolumeFacts) Volume {
	sortFacts(&f)
	v := f.Volume
	out := Volume{Meta: wire.NewMeta(base, wire.TypeVolume, v.Name, volumeActions(v)...), VolumeSpec: newVolumeSpec(v),
		VolumeStatus: newVolumeStatus(f), Controllers: []Controller{}, Replicas: []Replica{}, BackupStatus: []BackupStatus{}}
	for _, e := range f.Engines {
		out.Controllers = append(out.Controllers, newController(f, e))
	}
	modes := replicaModes(f)
	for _, r := range f.Replicas {
		out.Replicas = append(out.Replicas, newReplica(r, modes[r.Name]))
	}
	names := replicaNames(f.Replicas)
	out.RebuildStatus, out.RestoreStatus, out.PurgeStatus = newRebuilds(f, names), newRestores(f, names), newPurges(f, names)
	for _, b := range f.Backups {
		out.BackupStatus = append(out.BackupStatus, newBackupStatus(b))
	}
	out.VolumeAttachment = newNestedAttachment(v.Name, f.Attachment)
	return out
}

// sortFacts orders objects by name, on copies of the slices: the given slices may be shared.
func sortFacts(f *VolumeFacts) {
	f.Engines = sortedByName(f.Engines)
	f.Frontends = sortedByName(f.Frontends)
	f.Replicas = sortedByName(f.Replicas)
	f.Backups = sortedByName(f.Backups)
}

func sortedByName[T interface{ GetName() string }](list []T) []T {
	return slices.SortedFunc(slices.Values(list), func(a, b T) int { return cmp.Compare(a.GetName(), b.GetName()) })
}

func newVolumeSpec(v *v1beta2.Volume) VolumeSpec {
	s := v.Spec
	out := VolumeSpec{Name: v.Name, Size: number(s.Size), SnapshotMaxSize: number(s.SnapshotMaxSize),
		BackupBlockSize: number(s.BackupBlockSize), NumberOfReplicas: s.NumberOfReplicas, StaleReplicaTimeout: s.StaleReplicaTimeout,
		RebuildConcurrentSyncLimit: s.RebuildConcurrentSyncLimit, SnapshotMaxCount: s.SnapshotMaxCount,
		ReplicaRebuildingBandwidth: s.ReplicaRebuildingBandwidthLimit, UblkQueueDepth: s.UblkQueueDepth,
		UblkNumberOfQueue: s.UblkNumberOfQueue, NvmeTCPNrIOQueues: s.NvmeTCPNrIOQueues, Frontend: s.Frontend, FromBackup: s.FromBackup,
		RestoreVolumeRecurringJob: s.RestoreVolumeRecurringJob, DataSource: s.DataSource, CloneMode: s.CloneMode,
		DataLocality: s.DataLocality, Image: s.Image, BackingImage: s.BackingImage, LastAttachedBy: s.LastAttachedBy,
		SnapshotDataIntegrity: s.SnapshotDataIntegrity, UnmapMarkSnapChainRemoved: s.UnmapMarkSnapChainRemoved,
		BackupCompressionMethod: s.BackupCompressionMethod, ReplicaSoftAntiAffinity: s.ReplicaSoftAntiAffinity,
		ReplicaZoneSoftAntiAffinity: s.ReplicaZoneSoftAntiAffinity, ReplicaDiskSoftAntiAffinity: s.ReplicaDiskSoftAntiAffinity,
		ReplicaAutoBalance: s.ReplicaAutoBalance, DataEngine: cmp.Or(s.DataEngine, v1beta2.DataEngineV1),
		FreezeFilesystemForSnapshot: s.FreezeFilesystemForSnapshot,
		BackupTargetName:            cmp.Or(s.BackupTargetName, v1beta2.BackupTargetDefault),
		AccessMode:                  cmp.Or(s.AccessMode, v1beta2.AccessModeReadWriteOnce), OfflineRebuilding: s.OfflineRebuilding,
		DisableFrontend: s.DisableFrontend, Standby: s.Standby, RevisionCounterDisabled: s.RevisionCounterDisabled,
		Migratable: s.Migratable, Encrypted: s.Encrypted, DiskSelector: list(s.DiskSelector), NodeSelector: list(s.NodeSelector),
		TopologyRequirement: []Topology{}, DataLayout: DataLayout{Type: s.DataLayout.Type, Mode: s.DataLayout.Mode,
			DataChunks: s.DataLayout.DataChunks, ParityChunks: s.DataLayout.ParityChunks, StripSizeKB: s.DataLayout.StripSizeKB}}
	for _, t := range s.TopologyRequirement {
		out.TopologyRequirement = append(out.TopologyRequirement, Topology{Zone: t.Zone, Region: t.Region})
	}
	return out
}

func newVolumeStatus(f VolumeFacts) VolumeStatus {
	v := f.Volume
	s := v.Status
	notReady := whyNotReady(f)
	return VolumeStatus{Created: Timestamp(v.CreationTimestamp), State: stateOf(v), Robustness: robustnessOf(v),
		CurrentImage: s.CurrentImage, LastBackup: s.LastBackup, LastBackupAt: s.LastBackupAt, ShareEndpoint: s.ShareEndpoint,
		ShareState: s.ShareState, RestoreRequired: s.RestoreRequired, RestoreInitiated: s.RestoreInitiated, Ready: notReady == "",
		NotReadyMessage: notReady, Conditions: conditionMap(s.Conditions), KubernetesStatus: NewKubernetesStatus(f.Users, s.KubernetesStatus),
		CloneStatus: CloneStatus{SourceVolume: s.CloneStatus.SourceVolume, Snapshot: s.CloneStatus.Snapshot, State: s.CloneStatus.State,
			AttemptCount: s.CloneStatus.AttemptCount, NextAllowedAttemptAt: s.CloneStatus.NextAllowedAttemptAt}}
}

// stateOf returns the volume's state; a deletion shows before its controller has written it.
func stateOf(v *v1beta2.Volume) string {
	if v.DeletionTimestamp != nil {
		return v1beta2.VolumeStateDeleting
	}
	return v.Status.State
}

// robustnessOf returns the volume's robustness. Clients call functions of this text: it is empty only before the first status.
func robustnessOf(v *v1beta2.Volume) string {
	if v.Status.State == "" {
		return v.Status.Robustness
	}
	return cmp.Or(v.Status.Robustness, v1beta2.VolumeRobustnessUnknown)
}

// Timestamp returns a time in the form that clients sort by: in UTC, with the zone's name.
func Timestamp(t metav1.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 -0700 MST")
}

// rfc3339 returns a time in UTC as CSI reads it.
func rfc3339(t metav1.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func newCondition(c v1beta2.Condition) Condition {
	return Condition{Type: c.Type, Status: string(c.Status), LastProbeTime: c.LastProbeTime, LastTransitionTime: c.LastTransitionTime,
		Reason: c.Reason, Message: c.Message}
}

func conditionMap(conditions []v1beta2.Condition) map[string]Condition {
	out := make(map[string]Condition, len(conditions))
	for _, c := range conditions {
		out[c.Type] = newCondition(c)
	}
	return out
}

func conditionList(conditions []v1beta2.Condition) []Condition {
	out := make([]Condition, 0, len(conditions))
	for _, c := range conditions {
		out = append(out, newCondition(c))
	}
	return out
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// list returns a list that is not null.
func list(of []string) []string {
	if of == nil {
		return []string{}
	}
	return of
}

// table returns a map that is not null.
func table[V any](of map[string]V) map[string]V {
	if of == nil {
		return map[string]V{}
	}
	return of
}
