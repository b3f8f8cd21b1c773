// Package snapshots derives the tree of a volume's snapshots, what each is for, and which of them may be pruned. It imports no client.
package snapshots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/volumesnapshot"
)

// Snapshot is one snapshot of a volume.
type Snapshot struct {
	Name   string `json:"name"`
	Parent string `json:"parent,omitempty"`
	// Taken is an RFC 3339 time; empty while it was not taken.
	Taken string `json:"taken,omitempty"`
	// SizeBytes are its own.
	SizeBytes int64 `json:"sizeBytes"`
	Ready     bool  `json:"ready"`
	Deleting  bool  `json:"deleting,omitempty"`
	// Purpose is for what it was taken, and what uses it, in words.
	Purpose string `json:"purpose"`
	// Needed is why it must stay for now, as a sentence; empty where nothing needs it.
	Needed string `json:"needed,omitempty"`
	// NotCounted is why a volume cannot be brought back to it, or nobody asked that it can, as a sentence; empty for a restore point.
	NotCounted string `json:"notCounted,omitempty"`
}

// Tree is the report of a volume's snapshots.
type Tree struct {
	Volume    string     `json:"volume"`
	Snapshots []Snapshot `json:"snapshots"`
	// Unread names what could not be read.
	Unread []world.Unread `json:"unread,omitempty"`

	now time.Time
}

// Of returns the snapshots of a volume, the oldest first.
func Of(w *world.World, volume string) Tree {
	tree := Tree{Volume: volume, Snapshots: []Snapshot{}, Unread: w.Unread, now: w.Now}
	above := v1beta2.SnapshotsByParent(w.Snapshots.Items)
	for i := range w.Snapshots.Items {
		if s := &w.Snapshots.Items[i]; s.Spec.Volume == volume {
			tree.Snapshots = append(tree.Snapshots, Snapshot{Name: s.Name, Parent: s.Status.Parent, Taken: s.Status.CreationTime,
				SizeBytes: s.Status.Size, Ready: s.Status.ReadyToUse, Deleting: s.DeletionTimestamp != nil, Purpose: purpose(w, s),
				Needed: needed(w, s, above[s.Name]), NotCounted: notCounted(w, s)})
		}
	}
	slices.SortFunc(tree.Snapshots, func(a, b Snapshot) int {
		return cmp.Or(taken(a).Compare(taken(b)), cmp.Compare(a.Name, b.Name))
	})
	return tree
}

// taken is when a snapshot was taken; one that was not yet is the newest.
func taken(s Snapshot) time.Time {
	at, err := time.Parse(time.RFC3339, s.Taken)
	if err != nil {
		return time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)
	}
	return at
}

// takenBySystem is the purpose of a snapshot that nobody asked for: the system took it, as for a rebuild.
const takenBySystem = "system"

// contentOf returns the VolumeSnapshotContent that the snapshot is behind: as its Snapshot, or as the one that its Backup copies. Nil:
// none.
func contentOf(w *world.World, s *v1beta2.Snapshot) *volumesnapshot.Content {
	for i := range w.Contents.Items {
		volume, snapshot, backup := w.Contents.Items[i].Behind()
		if volume == s.Spec.Volume && snapshot == s.Name || backup != "" && slices.ContainsFunc(w.Backups.Items, func(b v1beta2.Backup) bool {
			return b.Name == backup && b.Spec.SnapshotName == s.Name
		}) {
			return &w.Contents.Items[i]
		}
	}
	return nil
}

// boundTo names the VolumeSnapshot of a content, or the content where there is none.
func boundTo(c *volumesnapshot.Content) string {
	if ref := c.Spec.VolumeSnapshotRef; ref.Name != "" {
		return "VolumeSnapshot " + ref.Namespace + "/" + ref.Name
	}
	return "VolumeSnapshotContent " + c.Name
}

// origin is who asked for the snapshot, in words.
func origin(w *world.World, s *v1beta2.Snapshot) string {
	content := contentOf(w, s)
	switch job := cmp.Or(s.Spec.Labels[v1beta2.LabelRecurringJob], s.Status.Labels[v1beta2.LabelRecurringJob]); {
	case job != "":
		return "recurring job " + job
	case content != nil:
		return boundTo(content)
	case v1beta2.SnapshotTaker(s) != "":
		return v1beta2.SnapshotTaker(s)
	case s.Spec.CreateSnapshot || s.Status.UserCreated:
		return "person"
	}
	return takenBySystem
}

// notCounted states why the snapshot is no restore point: pruning neither counts it among those that stay nor deletes it.
func notCounted(w *world.World, s *v1beta2.Snapshot) string {
	_, err := time.Parse(time.RFC3339, s.Status.CreationTime)
	ready := conditions.Get(s.Status.Conditions, v1beta2.SnapshotReady)
	switch {
	case s.DeletionTimestamp != nil:
		return "It is being deleted."
	case s.Status.MarkRemoved:
		return "The engine marked it removed: it waits for a purge."
	case ready != nil && ready.Status != v1beta2.ConditionTrue:
		return cmp.Or(ready.Message, fmt.Sprintf("It is not ready: %s.", ready.Reason))
	case !s.Status.ReadyToUse:
		return cmp.Or(s.Status.Error, "It is not ready.")
	case err != nil:
		return "It has no creation time."
	case origin(w, s) == takenBySystem:
		return "The system took it."
	case v1beta2.SnapshotTaker(s) != "":
		return v1beta2.SnapshotTaker(s) + " took it for itself, and deletes it."
	}
	return ""
}

func purpose(w *world.World, s *v1beta2.Snapshot) string {
	what := origin(w, s)
	for i := range w.Backups.Items {
		if b := &w.Backups.Items[i]; b.Spec.SnapshotName == s.Name {
			what += fmt.Sprintf(", Backup %s (%s)", b.Name, cmp.Or(b.Status.State, "not begun"))
		}
	}
	return what
}

// needed states what needs the snapshot now; above are the names of those that build on it.
func needed(w *world.World, s *v1beta2.Snapshot, above []string) string {
	for i := range w.Backups.Items {
		if b := &w.Backups.Items[i]; b.Spec.SnapshotName == s.Name && !v1beta2.IsBackupEnded(b) {
			return fmt.Sprintf("Backup %s copies it: wait until that has ended.", b.Name)
		}
	}
	for i := range w.Volumes.Items {
		if why := neededBy(&w.Volumes.Items[i], s); why != "" {
			return why
		}
	}
	for i := range w.NodeUpgrades.Items {
		u := &w.NodeUpgrades.Items[i]
		over := u.Status.State == v1beta2.UpgradeStateCompleted || u.Status.State == v1beta2.UpgradeStateError
		if v, ok := u.Status.Volumes[s.Spec.Volume]; ok && v.Snapshot == s.Name && !over {
			return fmt.Sprintf("NodeDataEngineUpgrade %s took it and is not over: wait until that has ended.", u.Name)
		}
	}
	content := contentOf(w, s)
	switch {
	case s.Status.CreationTime == "":
		return "It was not taken yet."
	case v1beta2.IsParentOfHead(s.Status.Children, above):
		return "The volume's head builds on it: it can go once there is a newer one."
	case content != nil:
		return fmt.Sprintf("It is behind %s of Kubernetes: delete that.", boundTo(content))
	case isLastBackedUp(w, s):
		return "It is the newest that was backed up, from which the next backup is computed."
	}
	return ""
}

// isLastBackedUp reports whether the snapshot has a completed Backup and no newer one of the volume has.
func isLastBackedUp(w *world.World, s *v1beta2.Snapshot) bool {
	backedUp := map[string]bool{}
	for i := range w.Backups.Items {
		if b := &w.Backups.Items[i]; b.Status.State == v1beta2.BackupCompleted {
			backedUp[b.Spec.SnapshotName] = true
		}
	}
	at := taken(Snapshot{Taken: s.Status.CreationTime})
	return backedUp[s.Name] && !slices.ContainsFunc(w.Snapshots.Items, func(other v1beta2.Snapshot) bool {
		return other.Spec.Volume == s.Spec.Volume && backedUp[other.Name] && taken(Snapshot{Taken: other.Status.CreationTime}).After(at)
	})
}

// neededBy states why a volume needs the snapshot: it is filled from it, shares its data, or is being reverted to it.
func neededBy(v *v1beta2.Volume, s *v1beta2.Snapshot) string {
	clone := v.Status.CloneStatus
	fromIt := v.Spec.DataSource == "snap://"+s.Spec.Volume+"/"+s.Name
	switch {
	case v.DeletionTimestamp != nil:
		return ""
	case v.Spec.CloneMode == v1beta2.CloneModeLinked && fromIt:
		return fmt.Sprintf("Volume %s is a linked clone and shares its data, for as long as that volume lives.", v.Name)
	case clone.State == v1beta2.CloneInitiated && clone.SourceVolume == s.Spec.Volume && clone.Snapshot == s.Name,
		fromIt && clone.State != v1beta2.CloneCompleted:
		return fmt.Sprintf("Volume %s is being cloned from it: wait until that has ended.", v.Name)
	case v.Name == s.Spec.Volume && v.Spec.RevertToSnapshot == s.Name && v.Spec.RevertRequestedAt != "" &&
		v.Status.LastRevert != v.Spec.RevertRequestedAt:
		return "The volume is being reverted to it: wait until that has ended."
	}
	return ""
}

// Names returns the snapshots.
func (t Tree) Names() []string { return names(t.Snapshots) }

func names(all []Snapshot) []string {
	out := make([]string, 0, len(all))
	for _, s := range all {
		out = append(out, finding.Ref{Kind: "Snapshot", Name: s.Name}.Resource())
	}
	return out
}

// Text writes the tree, and what could not be read.
func (t Tree) Text(p *terminal.Printer) {
	t.table(p)
	for _, unread := range t.Unread {
		p.Line("")
		p.Line("%s", p.In(terminal.Dim, "Not shown: "+unread.Reason))
	}
}

// table writes the tree: what builds on a snapshot stands below it, further to the right where there are several.
func (t Tree) table(p *terminal.Printer) {
	if len(t.Snapshots) == 0 {
		p.Line("volume %s has no snapshots", t.Volume)
		return
	}
	below := map[string][]Snapshot{}
	exists := map[string]bool{}
	for _, s := range t.Snapshots {
		exists[s.Name] = true
	}
	total := int64(0)
	for _, s := range t.Snapshots {
		parent := s.Parent
		if !exists[parent] {
			parent = ""
		}
		below[parent] = append(below[parent], s)
		total += s.SizeBytes
	}
	var rows [][]terminal.Cell
	var walk func(parent string, depth int)
	walk = func(parent string, depth int) {
		for _, s := range below[parent] {
			rows = append(rows, t.row(s, depth))
			deeper := depth
			if len(below[s.Name]) > 1 {
				deeper++
			}
			walk(s.Name, deeper)
		}
	}
	walk("", 0)
	p.Table("", []string{"SNAPSHOT", "SIZE", "TAKEN", "PURPOSE", "NEEDED"}, rows)
	p.Line("")
	noun := "snapshots"
	if len(t.Snapshots) == 1 {
		noun = "snapshot"
	}
	p.Line("%d %s of volume %s, %s", len(t.Snapshots), noun, t.Volume, terminal.Size(total))
}

func (t Tree) row(s Snapshot, depth int) []terminal.Cell {
	purpose := s.Purpose
	if s.Deleting {
		purpose += ", being deleted"
	}
	return []terminal.Cell{{Text: strings.Repeat("  ", depth) + s.Name}, {Text: terminal.Size(s.SizeBytes)}, {Text: terminal.Age(t.now,
		s.Taken)},
		{Text: purpose}, {Text: s.Needed, Style: terminal.Warning}}
}
