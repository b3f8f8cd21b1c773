package finding

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/leaderlabel"
)

// Controller is one binary of Drover as its lease, Deployment and pods show it.
type Controller struct {
	Name string `json:"name"`
	// Version is what the leader wrote on its lease. Where none leads, or wrote it: the tag of the image of its pod, or else of the
	// Deployment, or the label app.kubernetes.io/version of the same. Empty where there is none of these.
	Version string `json:"version,omitempty"`
	// Contracts are those of the custom resource definitions that the leader knows, as it wrote on its lease; empty: it wrote none.
	Contracts []string `json:"contracts,omitempty"`
	// Ready of Wanted pods are ready.
	Ready  int `json:"ready"`
	Wanted int `json:"wanted"`
	// Leader is the pod, or the host outside pods, that holds the lease; empty where none does.
	Leader string `json:"leader,omitempty"`
	// RenewedAt is the RFC 3339 time of the lease's last renewal.
	RenewedAt string `json:"renewedAt,omitempty"`
	// does is what does not happen without it.
	does string
}

// controllers are the binaries with what does not happen while they do not lead.
var controllers = []Controller{
	{Name: "attach-controller", does: "nothing is attached, detached, rebuilt or placed"},
	{Name: "im-monitor", does: "no instance is started or stopped, and no state is reported"},
	{Name: "orphan-controller", does: "no orphan is approved or ended"},
	{Name: "snapshot-controller", does: "no snapshot or backup is taken, and volumes with snapshots are not deleted"},
	{Name: "upgrade-controller", does: "no data engine is upgraded"},
}

// Controllers returns all controllers, by name.
func Controllers(w *world.World) []Controller {
	out := make([]Controller, 0, len(controllers))
	for _, c := range controllers {
		if d := deployment(w, c.Name); d != nil {
			c.Ready, c.Wanted = int(d.Status.ReadyReplicas), 1
			if d.Spec.Replicas != nil {
				c.Wanted = int(*d.Spec.Replicas)
			}
			c.Version = versionOf(d.Spec.Template.Labels, d.Spec.Template.Spec.Containers)
		}
		lease := Lease(w, LeaseOf(c.Name))
		if lease != nil {
			c.Leader, c.RenewedAt = holder(lease, w.Now)
		}
		if p := pod(w, c.Leader); p != nil {
			c.Version = versionOf(p.Labels, p.Spec.Containers)
		}
		if c.Leader != "" {
			c.Version = cmp.Or(lease.Labels[leaderlabel.Version], c.Version)
			if contracts := lease.Labels[leaderlabel.Contracts]; contracts != "" {
				c.Contracts = strings.Split(contracts, leaderlabel.Join)
			}
		}
		out = append(out, c)
	}
	return out
}

// Leaders returns what is known against the controllers: no leader, pods that are not ready.
func Leaders(w *world.World) []Finding {
	var out []Finding
	if w.IsUnread(leases) {
		return nil // see NotRead
	}
	for _, c := range Controllers(w) {
		ref := Ref{"Deployment", c.Name}
		show := w.Suggest("kubectl -n {ns} get deployments,pods -l app={name}", world.Values{"name": c.Name})
		switch {
		case c.Leader == "" && deployment(w, c.Name) == nil && Lease(w, LeaseOf(c.Name)) == nil:
			out = append(out, Finding{Object: ref, Reason: ReasonNotInstalled, Severity: Info, Guide: "docs/install.md", Command: show,
				Message: "It has neither a Deployment nor a lease, so " + c.does + "."})
		case c.Leader == "":
			message := fmt.Sprintf("No %s leads, so %s.", c.Name, c.does)
			if d := deployment(w, c.Name); d != nil && c.Wanted == 0 {
				message += " Its Deployment is scaled to 0."
			}
			if c.RenewedAt != "" { // clocks of nodes that differ show leases as old
				message += fmt.Sprintf(" Its lease was renewed at %s, and the clock of the API server is at %s.", c.RenewedAt,
					w.Now.UTC().Format(time.RFC3339))
			}
			out = append(out, Finding{Object: Ref{"Lease", LeaseOf(c.Name)}, Reason: ReasonNoLeader, Severity: Critical, Since: c.RenewedAt,
				Message: message, Guide: "docs/install.md", Command: show})
		case c.Ready < c.Wanted:
			out = append(out, Finding{Object: ref, Reason: ReasonNotReady, Severity: Warning, Guide: "docs/install.md", Command: show,
				Message: fmt.Sprintf("%d of %d pods are ready.", c.Ready, c.Wanted)})
		}
	}
	return out
}

// LeaseOf returns the name of a controller's lease.
func LeaseOf(controller string) string { return "drover-" + controller }

// Lease returns the lease of that name; nil where there is none.
func Lease(w *world.World, name string) *coordinationv1.Lease {
	for i := range w.Leases.Items {
		if w.Leases.Items[i].Name == name && w.Leases.Items[i].Namespace == w.Namespace {
			return &w.Leases.Items[i]
		}
	}
	return nil
}

// holder returns the pod that holds a lease, or nothing once it was not renewed for twice its duration: this clock and the holder's may
// differ by a duration. renewed is the RFC 3339 time of the last renewal.
func holder(lease *coordinationv1.Lease, now time.Time) (name, renewed string) {
	spec := lease.Spec
	if spec.HolderIdentity == nil || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return "", ""
	}
	renewed = spec.RenewTime.UTC().Format(time.RFC3339)
	if now.Sub(spec.RenewTime.Time) > 2*time.Duration(*spec.LeaseDurationSeconds)*time.Second {
		return "", renewed
	}
	// An identity is <pod>_<pod UID>_<random>, outside pods <host>_<random>.
	name, _, _ = strings.Cut(*spec.HolderIdentity, "_")
	return name, renewed
}

func deployment(w *world.World, name string) *appsv1.Deployment {
	for i := range w.Deployments.Items {
		if w.Deployments.Items[i].Name == name {
			return &w.Deployments.Items[i]
		}
	}
	return nil
}

func pod(w *world.World, name string) *corev1.Pod {
	for i := range w.Pods.Items {
		if w.Pods.Items[i].Name == name && w.Pods.Items[i].Namespace == w.Namespace {
			return &w.Pods.Items[i]
		}
	}
	return nil
}

// versionOf returns the tag of the first container's image, or else what the label says, or its digest.
func versionOf(labels map[string]string, containers []corev1.Container) string {
	if len(containers) == 0 {
		return ""
	}
	image, digest, _ := strings.Cut(containers[0].Image, "@")
	if slash, colon := strings.LastIndex(image, "/"), strings.LastIndex(image, ":"); colon > slash {
		return image[colon+1:]
	}
	return cmp.Or(labels[leaderlabel.Version], digest, "latest")
}
