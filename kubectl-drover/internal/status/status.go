// Package status shows a whole installation on one screen: controllers, nodes and disks, data engines, volumes, snapshots, backups,
// orphans and upgrades. It derives it from objects that were read before; it imports no client.
package status

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"drover.dev/drover/kubectl-drover/internal/doctor"
	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// Report is the whole installation.
type Report struct {
	Namespace   string               `json:"namespace"`
	Severity    finding.Severity     `json:"severity"`
	Findings    map[string]int       `json:"findings"` // how many of each severity above continues
	Controllers []finding.Controller `json:"controllers"`
	Contract    Contract             `json:"contract"`
	Nodes       []Node               `json:"nodes"`
	Engines     []Engine             `json:"dataEngines"`
	Volumes     Volumes              `json:"volumes"`
	Snapshots   Snapshots            `json:"snapshots"`
	Backups     Backups              `json:"backups"`
	Orphans     Orphans              `json:"orphans"`
	Upgrades    []Upgrade            `json:"upgrades"`
	Unread      []world.Unread       `json:"unread,omitempty"`

	worst []finding.Finding // the first of the worst, for people
	world *world.World
}

// Contract is which version of the custom resource definitions is installed.
type Contract struct {
	// Installed is how many definitions there are of each contract; "" is none, as another Longhorn's have.
	Installed map[string]int `json:"installed"`
}

// Node is a Longhorn Node with its disks and instance managers.
type Node struct {
	Name   string `json:"name"`
	Ready  bool   `json:"ready"`
	Reason string `json:"reason,omitempty"`
	// Schedulable: spec.allowScheduling, and not cordoned.
	Schedulable bool `json:"schedulable"`
	// Attached is how many volumes are attached there.
	Attached int    `json:"attachedVolumes"`
	Disks    []Disk `json:"disks"`
}

// Disk is one disk of a node. All sizes are in bytes.
type Disk struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Ready     bool   `json:"ready"`
	Reason    string `json:"reason,omitempty"`
	Maximum   int64  `json:"maximumBytes"`
	Available int64  `json:"availableBytes"`
	// Scheduled is what was promised to replicas.
	Scheduled int64 `json:"scheduledBytes"`
}

// Engine is a data engine with the image that is to run, and what does.
type Engine struct {
	Name string `json:"name"`
	// Volumes is how many volumes use it.
	Volumes int `json:"volumes"`
	// Wanted is the image of default-instance-manager-image.
	Wanted string `json:"wantedImage,omitempty"`
	// Images are those of its instance managers.
	Images []Image `json:"images"`
}

// Image is an image with its instance managers.
type Image struct {
	Image    string `json:"image"`
	Managers int    `json:"instanceManagers"`
	Running  int    `json:"running"`
}

// Volumes counts volumes.
type Volumes struct {
	Total      int            `json:"total"`
	State      map[string]int `json:"state"`
	Robustness map[string]int `json:"robustness"`
	SizeBytes  int64          `json:"sizeBytes"`
}

// Snapshots counts Snapshot objects.
type Snapshots struct {
	Total    int `json:"total"`
	Ready    int `json:"ready"`
	Waiting  int `json:"waiting"`
	Failed   int `json:"failed"`
	Deleting int `json:"deleting"`
}

// Backups counts backups by state, and backup targets.
type Backups struct {
	Total   int            `json:"total"`
	State   map[string]int `json:"state"`
	Targets []Target       `json:"targets"`
}

// Target is a backup target.
type Target struct {
	Name      string `json:"name"`
	URL       string `json:"url"`
	Available bool   `json:"available"`
}

// Orphans counts orphans, by why they are, and by what was decided.
type Orphans struct {
	Total    int            `json:"total"`
	Why      map[string]int `json:"why"`
	Decision map[string]int `json:"decision"`
	Failing  int            `json:"failing"`
}

// Upgrade is an upgrade of the v2 data engine that has not ended.
type Upgrade struct {
	Name     string `json:"name"`
	State    string `json:"state"`
	Node     string `json:"node,omitempty"`
	Step     string `json:"step,omitempty"`
	Progress string `json:"progress,omitempty"`
	Image    string `json:"image,omitempty"`
	Waits    string `json:"waits,omitempty"`
}

// shownFindings is how many findings are named.
const shownFindings = 5

// Of returns the report of a world.
func Of(w *world.World) Report {
	found := doctor.Examine(w)
	r := Report{
		Namespace: w.Namespace, Severity: finding.Worst(found), Findings: map[string]int{}, Controllers: finding.Controllers(w),
		Contract: contract(w), Nodes: nodes(w), Engines: engines(w), Volumes: volumes(w), Snapshots: snapshots(w), Backups: backups(w),
		Orphans: orphans(w), Upgrades: upgrades(w), Unread: w.Unread, world: w, worst: found[:min(len(found), shownFindings)],
	}
	for _, f := range found {
		r.Findings[f.Severity.String()]++
	}
	return r
}

func contract(w *world.World) Contract {
	out := Contract{Installed: map[string]int{}}
	for i := range w.Definitions.Items {
		if d := &w.Definitions.Items[i]; finding.Ours(d.Name) {
			out.Installed[d.Labels[v1beta2.LabelContract]]++
		}
	}
	return out
}

func nodes(w *world.World) []Node {
	attached := map[string]int{}
	for i := range w.Volumes.Items {
		attached[w.Volumes.Items[i].Status.CurrentNodeID]++
	}
	out := []Node{}
	for i := range w.Nodes.Items {
		n := &w.Nodes.Items[i]
		ready, reason := condition(n.Status.Conditions, v1beta2.NodeReady)
		one := Node{Name: n.Name, Ready: ready, Reason: reason, Schedulable: n.Spec.AllowScheduling && !v1beta2.IsNodeCordoned(n),
			Attached: attached[n.Name], Disks: []Disk{}}
		for _, key := range finding.DisksOf(n) {
			d := n.Status.DiskStatus[key]
			ready, reason := condition(d.Conditions, v1beta2.DiskReady)
			one.Disks = append(one.Disks, Disk{Name: key, Type: d.DiskType, Ready: ready, Reason: reason, Maximum: d.StorageMaximum,
				Available: d.StorageAvailable, Scheduled: d.StorageScheduled})
		}
		out = append(out, one)
	}
	return out
}

// condition returns whether a condition is True, and its reason if it is not.
func condition(all []v1beta2.Condition, kind string) (isTrue bool, reason string) {
	for _, c := range all {
		if c.Type == kind {
			if c.Status == v1beta2.ConditionTrue {
				return true, ""
			}
			return false, c.Reason
		}
	}
	return false, "Unknown"
}

func engines(w *world.World) []Engine {
	byName := map[string]*Engine{}
	get := func(name string) *Engine {
		name = world.DataEngine(name)
		if byName[name] == nil {
			byName[name] = &Engine{Name: name, Wanted: wantedImage(w), Images: []Image{}}
		}
		return byName[name]
	}
	for i := range w.Volumes.Items {
		get(w.Volumes.Items[i].Spec.DataEngine).Volumes++
	}
	for i := range w.InstanceManagers.Items {
		im := &w.InstanceManagers.Items[i]
		engine := get(im.Spec.DataEngine)
		index := slices.IndexFunc(engine.Images, func(one Image) bool { return one.Image == im.Spec.Image })
		if index < 0 {
			index = len(engine.Images)
			engine.Images = append(engine.Images, Image{Image: im.Spec.Image})
		}
		engine.Images[index].Managers++
		if im.Status.CurrentState == v1beta2.InstanceManagerStateRunning {
			engine.Images[index].Running++
		}
	}
	out := []Engine{}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		slices.SortFunc(byName[name].Images, func(a, b Image) int { return cmp.Compare(a.Image, b.Image) })
		out = append(out, *byName[name])
	}
	return out
}

func wantedImage(w *world.World) string {
	for i := range w.Settings.Items {
		if w.Settings.Items[i].Name == "default-instance-manager-image" {
			return w.Settings.Items[i].Value
		}
	}
	return ""
}

func volumes(w *world.World) Volumes {
	out := Volumes{Total: len(w.Volumes.Items), State: map[string]int{}, Robustness: map[string]int{}}
	for i := range w.Volumes.Items {
		v := &w.Volumes.Items[i]
		out.State[cmp.Or(v.Status.State, v1beta2.VolumeStateCreating)]++
		out.Robustness[cmp.Or(v.Status.Robustness, v1beta2.VolumeRobustnessUnknown)]++
		out.SizeBytes += v.Spec.Size
	}
	return out
}

func snapshots(w *world.World) Snapshots {
	out := Snapshots{Total: len(w.Snapshots.Items)}
	for i := range w.Snapshots.Items {
		s := &w.Snapshots.Items[i]
		switch {
		case s.DeletionTimestamp != nil:
			out.Deleting++
		case s.Status.ReadyToUse:
			out.Ready++
		case finding.Worst(finding.Snapshot(w, s)) >= finding.Warning:
			out.Failed++
		default:
			out.Waiting++
		}
	}
	return out
}

func backups(w *world.World) Backups {
	out := Backups{Total: len(w.Backups.Items), State: map[string]int{}, Targets: []Target{}}
	for i := range w.Backups.Items {
		out.State[cmp.Or(w.Backups.Items[i].Status.State, "Waiting")]++
	}
	for i := range w.BackupTargets.Items {
		t := &w.BackupTargets.Items[i]
		out.Targets = append(out.Targets, Target{Name: t.Name, URL: t.Spec.BackupTargetURL,
			Available: finding.Worst(finding.BackupTarget(w, t)) < finding.Warning})
	}
	return out
}

func orphans(w *world.World) Orphans {
	out := Orphans{Total: len(w.Orphans.Items), Why: map[string]int{}, Decision: map[string]int{}}
	for i := range w.Orphans.Items {
		for _, c := range w.Orphans.Items[i].Status.Conditions {
			switch {
			case c.Type == v1beta2.OrphanOrphaned && c.Reason != "":
				out.Why[c.Reason]++
			case c.Type == v1beta2.OrphanCleanupApproved && c.Reason != "":
				out.Decision[c.Reason]++
			case c.Type == v1beta2.OrphanCleanupFailed && c.Status == v1beta2.ConditionTrue:
				out.Failing++
			}
		}
	}
	return out
}

func upgrades(w *world.World) []Upgrade {
	out := []Upgrade{}
	for i := range w.Upgrades.Items {
		u := &w.Upgrades.Items[i]
		if u.Status.State == v1beta2.UpgradeStateCompleted {
			continue
		}
		one := Upgrade{Name: u.Name, State: u.Status.State, Node: u.Status.UpgradingNode, Step: u.Status.Step, Progress: u.Status.Progress,
			Image: u.Status.InstanceManagerImage}
		for _, c := range u.Status.Conditions {
			if c.Type == v1beta2.UpgradeProgressing {
				one.Waits = strings.TrimSpace(c.Reason + " " + c.Message)
			}
		}
		out = append(out, one)
	}
	return out
}
