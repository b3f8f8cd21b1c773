package finding

import (
	"maps"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// Disk is the kind of a disk of a Longhorn Node, which is a part of that object.
const Disk = "Disk"

// Claim is the kind of Kubernetes' claims, which are in any namespace.
const Claim = "PersistentVolumeClaim"

// Ref names an object.
type Ref struct {
	Kind string `json:"kind"`
	// Name is that of the object; of a Disk, <node>/<key in spec.disks>; of a claim, <namespace>/<name>.
	Name string `json:"name"`
}

// String returns "Volume vol-1".
func (r Ref) String() string { return r.Kind + " " + r.Name }

// Resource returns "volume.longhorn.io/vol-1"; for a Disk that of its Node.
func (r Ref) Resource() string {
	kind, name := r.Kind, r.Name
	if kind == Disk {
		kind, name = "Node", NodeOfDisk(name)
	}
	switch kind {
	case "Pod":
		return "pod/" + name
	case Claim:
		_, name, _ = strings.Cut(name, "/")
		return "persistentvolumeclaim/" + name
	case "Lease":
		return "lease.coordination.k8s.io/" + name
	case "Deployment":
		return "deployment.apps/" + name
	case "NetworkPolicy":
		return "networkpolicy.networking.k8s.io/" + name
	case "CustomResourceDefinition":
		return "customresourcedefinition.apiextensions.k8s.io/" + name
	}
	return strings.ToLower(kind) + ".longhorn.io/" + name
}

// NodeOfDisk returns the node of the name of a Disk.
func NodeOfDisk(name string) string {
	node, _, _ := strings.Cut(name, "/")
	return node
}

// Finding is one thing that is to be known about an object.
type Finding struct {
	Object Ref `json:"object"`
	// Part is what of the object it is about, such as a ticket; empty for the whole.
	Part string `json:"part,omitempty"`
	// Condition is the type of the condition; empty where it was derived from other fields.
	Condition string `json:"condition,omitempty"`
	// Reason is the condition's, or one word for what was derived.
	Reason string `json:"reason"`
	// Message is a sentence.
	Message string `json:"message"`
	// Since is the RFC 3339 time since which it is so; empty where that is not known.
	Since    string   `json:"since,omitempty"`
	Severity Severity `json:"severity"`
	// Command is the next one to type; empty where there is none.
	Command string `json:"command,omitempty"`
	// Guide is the page about the reason.
	Guide string `json:"guide,omitempty"`
}

// Values fill the placeholders of a rule's command; {ns} is the namespace of World.
type Values struct {
	World        *world.World
	Volume, Node string
	// Manager is the DataEngineUpgradeManager of an upgrade.
	Manager string
}

// shortNames are those of kubectl get.
var shortNames = map[string]string{
	"Volume": "lhv", "VolumeAttachment": "lhva", "Engine": "lhe", "EngineFrontend": "lhef", "Replica": "lhr", "InstanceManager": "lhim",
	"EngineImage": "lhei",
	"Node":        "lhn", Disk: "lhn", "Snapshot": "lhsnap", "Backup": "lhb", "BackupTarget": "lhbt", "Orphan": "lho", "RecurringJob": "lhrj",
	"DataEngineUpgradeManager": "lhum", "NodeDataEngineUpgrade": "lhnu", "Setting": "settings.longhorn.io",
}

// Expand returns the command for an object; empty where a value that it needs is not known.
func Expand(command string, object Ref, values Values) string {
	name := object.Name
	if object.Kind == Disk {
		name = NodeOfDisk(name)
	}
	return values.World.Suggest(command, world.Values{"kind": shortNames[object.Kind], "name": name, "volume": values.Volume,
		"node": values.Node, "manager": values.Manager})
}

// Of returns what the conditions say that are not as wanted, in their order. Conditions without a rule are another program's, and left out.
func Of(object Ref, conditions []v1beta2.Condition, values Values) []Finding {
	var out []Finding
	for _, c := range conditions {
		rule, known := ruleOf(object.Kind, c)
		if !known || rule.Severity == Well {
			continue
		}
		out = append(out, Finding{Object: object, Condition: c.Type, Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime,
			Severity: rule.Severity, Command: Expand(rule.Command, object, values), Guide: rule.Guide})
	}
	return out
}

// ruleOf returns the rule of a condition, and whether the condition is one of Drover's that has something to say.
func ruleOf(kind string, c v1beta2.Condition) (Rule, bool) {
	if c.Reason == "" || !conditions[key{kind: kind, condition: c.Type}] {
		return Rule{}, false
	}
	return RuleOf(kind, c.Type, c.Reason), true
}

// conditions are those that have rules.
var conditions = func() map[key]bool {
	out := map[key]bool{}
	for k := range rules {
		out[key{kind: k.kind, condition: k.condition}] = true
	}
	return out
}()

// Worst returns the highest severity.
func Worst(findings []Finding) Severity {
	worst := Well
	for _, f := range findings {
		worst = max(worst, f.Severity)
	}
	return worst
}

// ofVolume returns the values for commands about an object of a volume.
func ofVolume(w *world.World, volume, node string) Values {
	return Values{World: w, Volume: volume, Node: node}
}

// Volume returns what a volume's conditions and its robustness say.
func Volume(w *world.World, v *v1beta2.Volume) []Finding {
	return append(Of(Ref{"Volume", v.Name}, v.Status.Conditions, ofVolume(w, v.Name, v.Spec.NodeID)), Degraded(w, v)...)
}

// Attachment returns what the VolumeAttachment says as a whole.
func Attachment(w *world.World, a *v1beta2.VolumeAttachment) []Finding {
	return Of(Ref{"VolumeAttachment", a.Name}, a.Status.Conditions, ofVolume(w, a.Spec.Volume, a.Status.NodeID))
}

// Ticket returns what is answered to one ticket.
func Ticket(w *world.World, a *v1beta2.VolumeAttachment, id string) []Finding {
	found := Of(Ref{"VolumeAttachment", a.Name}, a.Status.AttachmentTicketStatuses[id].Conditions,
		ofVolume(w, a.Spec.Volume, a.Spec.AttachmentTickets[id].NodeID))
	for i := range found {
		found[i].Part = "ticket " + id
	}
	return found
}

// Engine returns what an engine's conditions say.
func Engine(w *world.World, e *v1beta2.Engine) []Finding {
	return Of(Ref{"Engine", e.Name}, e.Status.Conditions, ofVolume(w, e.Spec.VolumeName, e.Spec.NodeID))
}

// Frontend returns what an engine frontend's conditions say.
func Frontend(w *world.World, f *v1beta2.EngineFrontend) []Finding {
	return Of(Ref{"EngineFrontend", f.Name}, f.Status.Conditions, ofVolume(w, f.Spec.VolumeName, f.Spec.NodeID))
}

// Replica returns what a replica's conditions say, and since when it lacks data.
func Replica(w *world.World, r *v1beta2.Replica) []Finding {
	ref := Ref{"Replica", r.Name}
	return append(Of(ref, r.Status.Conditions, ofVolume(w, r.Spec.VolumeName, r.Spec.NodeID)), Failed(r)...)
}

// InstanceManager returns what an instance manager's conditions say.
func InstanceManager(w *world.World, im *v1beta2.InstanceManager) []Finding {
	return Of(Ref{"InstanceManager", im.Name}, im.Status.Conditions, Values{World: w, Node: im.Spec.NodeID})
}

// EngineImage returns what the conditions of an engine image say.
func EngineImage(w *world.World, i *v1beta2.EngineImage) []Finding {
	return Of(Ref{"EngineImage", i.Name}, i.Status.Conditions, Values{World: w})
}

// Node returns what a node's own conditions say, without those of its disks.
func Node(w *world.World, n *v1beta2.Node) []Finding {
	return Of(Ref{"Node", n.Name}, n.Status.Conditions, Values{World: w, Node: n.Name})
}

// DiskOf returns what the conditions of one disk of a node say.
func DiskOf(w *world.World, n *v1beta2.Node, disk string) []Finding {
	status := n.Status.DiskStatus[disk]
	return Of(Ref{Disk, n.Name + "/" + disk}, status.Conditions, Values{World: w, Node: n.Name})
}

// Lasting raises what continues by itself to a warning once it is so for longer than the limit.
func Lasting(f Finding, now time.Time, limit time.Duration) Finding {
	since, err := time.Parse(time.RFC3339, f.Since)
	if err == nil && f.Severity == Continues && now.Sub(since) > limit {
		f.Severity = Warning
	}
	return f
}

// DisksOf returns the keys of the disks of a node that a status is known of, sorted.
func DisksOf(n *v1beta2.Node) []string { return slices.Sorted(maps.Keys(n.Status.DiskStatus)) }

// Snapshot returns what a snapshot's conditions say.
func Snapshot(w *world.World, s *v1beta2.Snapshot) []Finding {
	return Of(Ref{"Snapshot", s.Name}, s.Status.Conditions, ofVolume(w, s.Spec.Volume, ""))
}

// Backup returns what a backup's conditions say while it has not ended, or is being removed.
func Backup(w *world.World, b *v1beta2.Backup) []Finding {
	if v1beta2.IsBackupEnded(b) && b.DeletionTimestamp == nil {
		return nil
	}
	out := Of(Ref{"Backup", b.Name}, b.Status.Conditions, ofVolume(w, b.Status.VolumeName, ""))
	for i := range out {
		if out[i].Reason == v1beta2.ReasonSnapshotNotReady && lacksSnapshot(w, b) {
			out[i].Severity = Warning
		}
	}
	return out
}

// lacksSnapshot reports whether the Snapshot to back up does not exist, or is being deleted. Whoever reads a Backup reads the Snapshots of
// its volume, too.
func lacksSnapshot(w *world.World, b *v1beta2.Backup) bool {
	return !w.IsUnread("snapshots.longhorn.io") && !slices.ContainsFunc(w.Snapshots.Items, func(s v1beta2.Snapshot) bool {
		return s.Name == b.Spec.SnapshotName && s.DeletionTimestamp == nil
	})
}

// NodeUpgrade returns what the conditions of a node's upgrade say.
func NodeUpgrade(w *world.World, u *v1beta2.NodeDataEngineUpgrade) []Finding {
	return Of(Ref{"NodeDataEngineUpgrade", u.Name}, u.Status.Conditions, Values{World: w, Node: u.Spec.NodeID,
		Manager: u.Spec.DataEngineUpgradeManager})
}

// Upgrade returns what the conditions of a whole upgrade say.
func Upgrade(w *world.World, u *v1beta2.DataEngineUpgradeManager) []Finding {
	return Of(Ref{"DataEngineUpgradeManager", u.Name}, u.Status.Conditions, Values{World: w, Node: u.Status.UpgradingNode, Manager: u.Name})
}

// Orphan returns what an orphan's conditions say.
func Orphan(w *world.World, orphan *v1beta2.Orphan) []Finding {
	return Of(Ref{"Orphan", orphan.Name}, orphan.Status.Conditions, Values{World: w, Node: orphan.Spec.NodeID})
}

// BackupTarget returns what the conditions of a backup target say.
func BackupTarget(w *world.World, t *v1beta2.BackupTarget) []Finding {
	return Of(Ref{"BackupTarget", t.Name}, t.Status.Conditions, Values{World: w})
}

// RecurringJob returns what the conditions of a recurring job say.
func RecurringJob(w *world.World, j *v1beta2.RecurringJob) []Finding {
	return Of(Ref{"RecurringJob", j.Name}, j.Status.Conditions, Values{World: w})
}

// Setting returns what the conditions of a setting say.
func Setting(w *world.World, s *v1beta2.Setting) []Finding {
	return Of(Ref{"Setting", s.Name}, s.Status.Conditions, Values{World: w})
}
