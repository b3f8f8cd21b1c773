package finding

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/recurringlabel"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/netpolicy"
)

// What follows is derived from fields: no condition says it.

// Reasons of what is derived.
const (
	ReasonDegraded     = "Degraded"
	ReasonReplicaFails = "Failed"
	ReasonDeleting     = "Deleting"
	ReasonNoLeader     = "NoLeader"
	ReasonNotReady     = "NotReady"
	ReasonNotInstalled = "NotInstalled"
	ReasonContract     = "OtherContract"
	ReasonBackupError  = "BackupError"
	ReasonState        = "State"
	ReasonNotRead      = "NotRead"
	ReasonCutOff       = "CutOff"
)

const attachingGuide = "docs/attaching.md"

// Degraded is a volume with fewer healthy replicas than it wants.
func Degraded(w *world.World, v *v1beta2.Volume) []Finding {
	if v.Status.Robustness != v1beta2.VolumeRobustnessDegraded {
		return nil
	}
	healthy, known := 0, false
	for i := range w.Replicas.Items {
		r := &w.Replicas.Items[i]
		known = known || r.Spec.VolumeName == v.Name
		if r.Spec.VolumeName == v.Name && v1beta2.IsReplicaHealthy(r) {
			healthy++
		}
	}
	message := "Fewer replicas are healthy than the volume wants."
	if known {
		message = fmt.Sprintf("%d of %d replicas are healthy.", healthy, max(v.Spec.NumberOfReplicas, healthy))
	}
	ref := Ref{"Volume", v.Name}
	return []Finding{{Object: ref, Reason: ReasonDegraded, Message: message, Since: v.Status.LastDegradedAt, Severity: Continues,
		Command: Expand("kubectl drover why {volume} -n {ns}", ref, ofVolume(w, v.Name, "")), Guide: attachingGuide}}
}

// VolumeJobs are the labels of a volume that are to name recurring jobs, or groups of them, and have no effect.
func VolumeJobs(w *world.World, v *v1beta2.Volume) []Finding {
	return ineffective(w, Ref{"Volume", v.Name}, recurringlabel.OfVolume(v.Labels, recurringlabel.JobsOf(w.RecurringJobs.Items)))
}

// ClaimJobs are those of a claim that is, or is to be, the source of its volume's jobs.
func ClaimJobs(w *world.World, claim *corev1.PersistentVolumeClaim) []Finding {
	ref := Ref{Claim, claim.Namespace + "/" + claim.Name}
	return ineffective(w, ref, recurringlabel.OfClaim(claim.Labels, recurringlabel.JobsOf(w.RecurringJobs.Items)))
}

func ineffective(w *world.World, ref Ref, problems []recurringlabel.Problem) []Finding {
	if w.IsUnread("recurringjobs.longhorn.io") {
		return nil
	}
	var out []Finding
	for _, p := range problems {
		out = append(out, Finding{Object: ref, Part: "label " + p.Label, Reason: p.Reason, Severity: Warning, Message: p.Message,
			Command: Expand("kubectl -n {ns} get lhrj", ref, Values{World: w}), Guide: "docs/snapshots.md"})
	}
	return out
}

// Failed is a replica that lacks data.
func Failed(r *v1beta2.Replica) []Finding {
	if r.Spec.FailedAt == "" {
		return nil
	}
	return []Finding{{Object: Ref{"Replica", r.Name}, Reason: ReasonReplicaFails, Since: r.Spec.FailedAt, Severity: Continues,
		Message: fmt.Sprintf("The replica on node %s lacks data that was written since it failed.", r.Spec.NodeID), Guide: attachingGuide}}
}

// Deleting is an object that was deleted and stays, by its finalizers.
func Deleting(w *world.World, ref Ref, object metav1.Object) []Finding {
	at := object.GetDeletionTimestamp()
	if at == nil {
		return nil
	}
	return []Finding{{Object: ref, Reason: ReasonDeleting, Since: at.UTC().Format(time.RFC3339), Severity: Continues,
		Message: "It was deleted, and stays until its work is done; finalizers: " + strings.Join(object.GetFinalizers(), ", ") + ".",
		Command: Expand(Describe, ref, Values{World: w}), Guide: attachingGuide}}
}

// BackupFailed is a backup that ended with an error.
func BackupFailed(w *world.World, b *v1beta2.Backup) []Finding {
	if b.Status.State != v1beta2.BackupError {
		return nil
	}
	ref := Ref{"Backup", b.Name}
	return []Finding{{Object: ref, Reason: ReasonBackupError, Message: "The backup failed: " + b.Status.Error, Severity: Info,
		Command: Expand(Describe, ref, Values{World: w}), Guide: "docs/backups.md"}}
}

// Contract is one definition of longhorn.io that another Longhorn installed, or an installation that lacks all.
func Contract(w *world.World) []Finding {
	var others []string
	for i := range w.Definitions.Items {
		d := &w.Definitions.Items[i]
		if Ours(d.Name) && d.Labels[v1beta2.LabelContract] != v1beta2.ContractVersion {
			others = append(others, d.Name)
		}
	}
	if len(others) == 0 {
		return nil
	}
	slices.Sort(others)
	return []Finding{{Object: Ref{"CustomResourceDefinition", others[0]}, Reason: ReasonContract, Severity: Warning,
		Guide: "docs/install.md",
		Message: fmt.Sprintf("%d definitions are not of contract %s, so that they drop fields that the controllers need: %s.", len(others),
			v1beta2.ContractVersion, strings.Join(others, ", ")),
		Command: w.Suggest("kubectl apply --server-side --force-conflicts -k crds", nil)}}
}

// Network is a NetworkPolicy that keeps im-monitor from the instance managers. It is critical once one of them does not answer: then the
// network enforces it.
func Network(w *world.World) []Finding {
	closing := netpolicy.CutOff(w.Namespace, w.NetworkPolicies.Items)
	if len(closing) == 0 {
		return nil
	}
	severity, seen := Warning, "Where the network enforces policies, no volume is attached, moved or repaired."
	for i := range w.InstanceManagers.Items {
		silent := func(c v1beta2.Condition) bool { return c.Reason == v1beta2.ReasonNotAnswering }
		if slices.ContainsFunc(w.InstanceManagers.Items[i].Status.Conditions, silent) {
			severity, seen = Critical, "Instance managers do not answer: no volume is attached, moved or repaired."
			break
		}
	}
	return []Finding{{Object: Ref{"NetworkPolicy", closing[0]}, Reason: ReasonCutOff, Severity: severity, Guide: "docs/install.md",
		Message: fmt.Sprintf("It lets im-monitor reach no instance manager (%s). %s", strings.Join(closing, ", "), seen),
		Command: w.Suggest("kubectl -n {ns} apply -f "+netpolicy.File, nil)}}
}

const leases = "leases.coordination.k8s.io"

// NotRead is each kind without which something that waits for a person may not be known.
func NotRead(w *world.World) []Finding {
	var out []Finding
	for _, unread := range w.Unread {
		ref := Ref{"CustomResourceDefinition", unread.Resource}
		switch {
		case unread.Resource == leases:
			ref = Ref{"Lease", LeaseOf(controllers[0].Name)}
		case !strings.HasSuffix(unread.Resource, "."+v1beta2.GroupVersion.Group):
			continue
		}
		out = append(out, Finding{Object: ref, Reason: ReasonNotRead, Severity: Warning, Guide: "docs/kubectl-drover.md",
			Message: fmt.Sprintf("Nothing is known of %s, which could not be read.", unread.Resource),
			Command: w.Suggest("kubectl auth can-i list {resource} -n {ns}", world.Values{"resource": unread.Resource})})
	}
	return out
}

// Ours reports whether Drover has a definition of that name: Longhorn has kinds that Drover does not know.
func Ours(definition string) bool {
	plural, group, _ := strings.Cut(definition, ".")
	return group == v1beta2.GroupVersion.Group && plurals[plural]
}
