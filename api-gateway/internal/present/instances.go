package present

import (
	"cmp"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/volumeusers"
)

// Instance has the common fields of engines and replicas.
type Instance struct {
	Name                string `json:"name"`
	HostID              string `json:"hostId"`
	Address             string `json:"address"`
	Running             bool   `json:"running"`
	Image               string `json:"image"`
	CurrentImage        string `json:"currentImage"`
	InstanceManagerName string `json:"instanceManagerName"`
}

// Controller is an engine of a volume. Its sizes are decimal strings.
type Controller struct {
	Instance
	Size                             string `json:"size"`
	ActualSize                       string `json:"actualSize"`
	Endpoint                         string `json:"endpoint"`
	LastRestoredBackup               string `json:"lastRestoredBackup"`
	RequestedBackupRestore           string `json:"requestedBackupRestore"`
	IsExpanding                      bool   `json:"isExpanding"`
	LastExpansionError               string `json:"lastExpansionError"`
	LastExpansionFailedAt            string `json:"lastExpansionFailedAt"`
	UnmapMarkSnapChainRemovedEnabled bool   `json:"unmapMarkSnapChainRemovedEnabled"`
}

// Replica is one copy of a volume's data.
type Replica struct {
	Instance
	DiskID     string `json:"diskID"`
	DiskPath   string `json:"diskPath"`
	DataPath   string `json:"dataPath"`
	Mode       string `json:"mode"`
	FailedAt   string `json:"failedAt"`
	DataEngine string `json:"dataEngine"`
}

// newController returns an engine as clients see it. A v2 engine has the node and the block device of its frontend.
func newController(f VolumeFacts, e *v1beta2.Engine) Controller {
	size := e.Status.CurrentSize
	out := Controller{Instance: Instance{Name: e.Name, HostID: e.Spec.NodeID, Address: e.Status.IP,
		Running: e.Status.CurrentState == v1beta2.InstanceStateRunning, Image: e.Spec.Image, CurrentImage: e.Status.CurrentImage,
		InstanceManagerName: e.Status.InstanceManagerName},
		ActualSize: number(volumeusers.ActualSize(e)), Endpoint: e.Status.Endpoint, LastRestoredBackup: e.Status.LastRestoredBackup,
		RequestedBackupRestore: e.Spec.RequestedBackupRestore, IsExpanding: e.Status.IsExpanding,
		LastExpansionError: e.Status.LastExpansionError, LastExpansionFailedAt: e.Status.LastExpansionFailedAt,
		UnmapMarkSnapChainRemovedEnabled: e.Status.UnmapMarkSnapChainRemovedEnabled}
	if frontend := frontendOf(f.Frontends, e); frontend != nil {
		out.HostID = cmp.Or(frontend.Spec.NodeID, out.HostID)
		out.Endpoint = cmp.Or(frontend.Status.Endpoint, out.Endpoint)
		if seen := frontend.Status.CurrentSize; f.Volume.Status.State == v1beta2.VolumeStateAttached && seen > 0 && seen < size {
			size = seen
		}
	}
	if f.Volume.Spec.DisableFrontend {
		out.Endpoint = ""
	}
	out.Size = number(size)
	return out
}

// frontendOf returns the frontend that leads to an engine, or nil. An active one comes first.
func frontendOf(frontends []*v1beta2.EngineFrontend, e *v1beta2.Engine) *v1beta2.EngineFrontend {
	var found *v1beta2.EngineFrontend
	for _, frontend := range frontends {
		if frontend.Spec.EngineName == e.Name && (found == nil || frontend.Spec.Active && !found.Spec.Active) {
			found = frontend
		}
	}
	return found
}

func newReplica(r *v1beta2.Replica, mode string) Replica {
	out := Replica{Instance: Instance{Name: r.Name, HostID: r.Spec.NodeID, Address: r.Status.IP,
		Running: r.Status.CurrentState == v1beta2.InstanceStateRunning, Image: r.Spec.Image, CurrentImage: r.Status.CurrentImage,
		InstanceManagerName: r.Status.InstanceManagerName},
		DiskID: r.Spec.DiskID, DiskPath: r.Spec.DiskPath, Mode: mode, FailedAt: r.Spec.FailedAt,
		DataEngine: cmp.Or(r.Spec.DataEngine, v1beta2.DataEngineV1)}
	if r.Spec.DataDirectoryName != "" {
		out.DataPath = strings.TrimSuffix(r.Spec.DiskPath, "/") + "/replicas/" + r.Spec.DataDirectoryName
	}
	return out
}

// replicaModes returns the modes that the engine on the volume's node reports.
func replicaModes(f VolumeFacts) map[string]string {
	for _, e := range f.Engines {
		if e.Spec.NodeID == f.Volume.Status.CurrentNodeID && e.Spec.NodeID != "" {
			return e.Status.ReplicaModeMap
		}
	}
	return nil
}

// RebuildStatus is one rebuild of a replica.
type RebuildStatus struct {
	nestedStatus
	FromReplica     string   `json:"fromReplica"`
	FromReplicaList []string `json:"fromReplicaList"`
	IsRebuilding    bool     `json:"isRebuilding"`
	AppliedMBps     int64    `json:"appliedRebuildingMBps"`
}

// RestoreStatus is the restoration of a replica from a backup.
type RestoreStatus struct {
	nestedStatus
	IsRestoring            bool   `json:"isRestoring"`
	LastRestored           string `json:"lastRestored"`
	CurrentRestoringBackup string `json:"currentRestoringBackup"`
	Filename               string `json:"filename"`
	BackupURL              string `json:"backupURL"`
}

// PurgeStatus is the removal of snapshots from a replica.
type PurgeStatus struct {
	nestedStatus
	IsPurging bool `json:"isPurging"`
}

// nestedStatus has the common fields of the three.
type nestedStatus struct {
	wire.Nested
	Replica  string `json:"replica"`
	State    string `json:"state"`
	Progress int    `json:"progress"`
	Error    string `json:"error"`
}

// replicaNames returns the names of replicas by the addresses of their data.
func replicaNames(replicas []*v1beta2.Replica) map[string]string {
	names := map[string]string{}
	for _, r := range replicas {
		if r.Status.StorageIP != "" && r.Status.Port != 0 {
			names[net.JoinHostPort(r.Status.StorageIP, strconv.Itoa(r.Status.Port))] = r.Name
		}
	}
	return names
}

// nameOf returns the replica at an address, or the address.
func nameOf(names map[string]string, address string) string {
	plain := strings.TrimPrefix(address, "tcp://")
	return cmp.Or(names[plain], plain)
}

func newRebuilds(f VolumeFacts, names map[string]string) []RebuildStatus {
	out := []RebuildStatus{}
	for _, e := range f.Engines {
		for _, address := range slices.Sorted(maps.Keys(e.Status.RebuildStatus)) {
			s := e.Status.RebuildStatus[address]
			r := RebuildStatus{nestedStatus: nestedStatus{Replica: nameOf(names, address), State: s.State, Progress: s.Progress, Error: s.Error},
				FromReplica: nameOf(names, s.FromReplicaAddress), FromReplicaList: []string{}, IsRebuilding: s.IsRebuilding,
				AppliedMBps: s.AppliedRebuildingMBps}
			for _, from := range s.FromReplicaAddressList {
				r.FromReplicaList = append(r.FromReplicaList, nameOf(names, from))
			}
			out = append(out, r)
		}
	}
	return out
}

func newRestores(f VolumeFacts, names map[string]string) []RestoreStatus {
	out := []RestoreStatus{}
	for _, e := range f.Engines {
		for _, address := range slices.Sorted(maps.Keys(e.Status.RestoreStatus)) {
			s := e.Status.RestoreStatus[address]
			out = append(out, RestoreStatus{
				nestedStatus: nestedStatus{Replica: nameOf(names, address), State: s.State, Progress: s.Progress, Error: s.Error},
				IsRestoring:  s.IsRestoring, LastRestored: s.LastRestored, CurrentRestoringBackup: s.CurrentRestoringBackup,
				Filename: s.Filename, BackupURL: s.BackupURL})
		}
	}
	return out
}

// newPurges returns nil if there is no purge: clients expect null then.
func newPurges(f VolumeFacts, names map[string]string) []PurgeStatus {
	var out []PurgeStatus
	for _, e := range f.Engines {
		for _, address := range slices.Sorted(maps.Keys(e.Status.PurgeStatus)) {
			s := e.Status.PurgeStatus[address]
			out = append(out, PurgeStatus{
				nestedStatus: nestedStatus{Replica: nameOf(names, address), State: s.State, Progress: s.Progress, Error: s.Error},
				IsPurging:    s.IsPurging})
		}
	}
	return out
}

// BackupStatus is a backup in its volume.
type BackupStatus struct {
	wire.Nested
	ID        string `json:"id"`
	Snapshot  string `json:"snapshot"`
	Progress  int    `json:"progress"`
	BackupURL string `json:"backupURL"`
	Error     string `json:"error"`
	State     string `json:"state"`
	Replica   string `json:"replica"`
	Size      string `json:"size"`
}

func newBackupStatus(b *v1beta2.Backup) BackupStatus {
	return BackupStatus{ID: b.Name, Snapshot: cmp.Or(b.Spec.SnapshotName, b.Status.SnapshotName), Progress: b.Status.Progress,
		BackupURL: b.Status.URL, Error: b.Status.Error, State: b.Status.State, Replica: b.Status.ReplicaAddress, Size: b.Status.Size}
}
