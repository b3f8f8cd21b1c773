package present

import (
	"cmp"
	"maps"
	"slices"

	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
)

// Snapshot is a snapshot as a running engine lists it. Its size is a decimal string.
type Snapshot struct {
	wire.Meta
	Name        string            `json:"name"`
	Parent      string            `json:"parent"`
	Children    map[string]bool   `json:"children"`
	Removed     bool              `json:"removed"`
	UserCreated bool              `json:"usercreated"`
	Created     string            `json:"created"`
	Size        string            `json:"size"`
	Labels      map[string]string `json:"labels"`
	Checksum    string            `json:"checksum"`
}

// NewSnapshots returns all snapshots of an engine, volume-head included, by name. checksums come from the Snapshot objects.
func NewSnapshots(base string, e *v1beta2.Engine, checksums map[string]string) []Snapshot {
	out := make([]Snapshot, 0, len(e.Status.Snapshots))
	for _, name := range slices.Sorted(maps.Keys(e.Status.Snapshots)) {
		s := e.Status.Snapshots[name]
		out = append(out, Snapshot{Meta: wire.NewMeta(base, wire.TypeSnapshot, name), Name: name, Parent: s.Parent,
			Children: table(s.Children), Removed: s.Removed, UserCreated: s.UserCreated, Created: s.Created, Size: cmp.Or(s.Size, "0"),
			Labels: table(s.Labels), Checksum: checksums[name]})
	}
	return out
}

// SnapshotCR is a Snapshot object. Its sizes are numbers.
type SnapshotCR struct {
	wire.Meta
	Name           string            `json:"name"`
	Volume         string            `json:"volume"`
	CreateSnapshot bool              `json:"createSnapshot"`
	CRCreationTime string            `json:"crCreationTime"`
	Parent         string            `json:"parent"`
	Children       map[string]bool   `json:"children"`
	MarkRemoved    bool              `json:"markRemoved"`
	UserCreated    bool              `json:"userCreated"`
	CreationTime   string            `json:"creationTime"`
	Size           int64             `json:"size"`
	RestoreSize    int64             `json:"restoreSize"`
	OwnerID        string            `json:"ownerID"`
	Error          string            `json:"error,omitempty"`
	ReadyToUse     bool              `json:"readyToUse"`
	Checksum       string            `json:"checksum"`
	Labels         map[string]string `json:"labels"`
}

// NewSnapshotCR returns a Snapshot object as clients see it.
func NewSnapshotCR(base string, s *v1beta2.Snapshot) SnapshotCR {
	labels := s.Spec.Labels
	if len(labels) == 0 {
		labels = s.Status.Labels
	}
	return SnapshotCR{Meta: wire.NewMeta(base, wire.TypeSnapshotCR, s.Name), Name: s.Name, Volume: s.Spec.Volume,
		CreateSnapshot: s.Spec.CreateSnapshot, CRCreationTime: rfc3339(s.CreationTimestamp), Parent: s.Status.Parent,
		Children: table(s.Status.Children), MarkRemoved: s.Status.MarkRemoved, UserCreated: s.Status.UserCreated,
		CreationTime: s.Status.CreationTime, Size: s.Status.Size, RestoreSize: s.Status.RestoreSize, OwnerID: s.Status.OwnerID,
		Error: s.Status.Error, ReadyToUse: s.Status.ReadyToUse, Checksum: s.Status.Checksum, Labels: table(labels)}
}
