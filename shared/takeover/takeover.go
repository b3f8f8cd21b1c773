// Package takeover finds what a Longhorn installation still has that would refuse Drover's writes, act beside it, or be interrupted in the
// middle of its work, and names for each the next step, in the order of the steps. It also finds what the installation uses and loses with
// longhorn-manager. Read does the reading; the package changes nothing.
package takeover

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/netpolicy"
)

// Names of what longhorn-manager and its chart create.
const (
	ValidatingWebhook = "longhorn-webhook-validator"
	MutatingWebhook   = "longhorn-webhook-mutator"

	manager, deployer     = "longhorn-manager", "longhorn-driver-deployer"
	attacher, snapshotter = "csi-attacher", "csi-snapshotter"
	engineUpgrades        = "concurrent-automatic-engine-upgrade-per-node-limit"
)

// ManagerPods are the labels that every longhorn-manager pod of a Longhorn installation has.
var ManagerPods = labels.Set{"app": manager}

// Found is what exists of an installation, in one namespace and in the cluster.
type Found struct {
	Namespace string
	Volumes   []v1beta2.Volume
	Engines   []v1beta2.Engine
	Backups   []v1beta2.Backup
	Settings  []v1beta2.Setting
	Managers  []v1beta2.InstanceManager
	// Pods are those of longhorn-manager.
	Pods        []corev1.Pod
	DaemonSets  []appsv1.DaemonSet
	Deployments []appsv1.Deployment
	CronJobs    []batchv1.CronJob
	Budgets     []policyv1.PodDisruptionBudget
	Validating  []admissionv1.ValidatingWebhookConfiguration
	Mutating    []admissionv1.MutatingWebhookConfiguration
	Definitions []apiextensionsv1.CustomResourceDefinition
	// NetworkPolicies are those of the namespace; Nodes, EngineImages and Shares are Longhorn's.
	NetworkPolicies []networkingv1.NetworkPolicy
	Classes         []storagev1.StorageClass
	Nodes           []v1beta2.Node
	EngineImages    []v1beta2.EngineImage
	Shares          []v1beta2.ShareManager
}

// Obstacle is one thing that blocks taking over.
type Obstacle struct {
	// Object is its kind and name.
	Object string
	// Why is what it would do.
	Why string
	// Do is the next step: a command, or what to wait for.
	Do string
}

// Obstacles lists all of them, in the order in which they are to be resolved; empty: nothing blocks taking over.
func Obstacles(f Found) []Obstacle {
	return slices.Concat(f.underWay(), f.beside(), f.managers(), f.webhooks(), f.network(), f.sidecars(), f.budgets())
}

// underWay is work that no controller would end, or that is half done.
func (f Found) underWay() (out []Obstacle) {
	const wait = "wait until it has ended, or end it with longhorn-manager"
	for i := range f.Volumes {
		v := &f.Volumes[i]
		switch {
		case v.Spec.MigrationNodeID != "":
			out = append(out, Obstacle{"Volume " + v.Name, "migrates to node " + v.Spec.MigrationNodeID, wait})
		case v.Spec.Image != "" && v.Status.CurrentImage != "" && v.Spec.Image != v.Status.CurrentImage:
			out = append(out, Obstacle{"Volume " + v.Name, "its engine is being upgraded to " + v.Spec.Image, wait})
		}
	}
	for i := range f.Engines {
		if what := working(&f.Engines[i]); what != "" {
			out = append(out, Obstacle{"Engine " + f.Engines[i].Name, what, wait})
		}
	}
	for i := range f.Backups {
		if b := &f.Backups[i]; v1beta2.IsBackupBegun(b) {
			out = append(out, Obstacle{"Backup " + b.Name, "is " + b.Status.State, wait})
		}
	}
	for i := range f.Settings {
		if s := &f.Settings[i]; s.Name == engineUpgrades && s.Value != "" && s.Value != "0" {
			out = append(out, Obstacle{"Setting " + s.Name, "lets longhorn-manager upgrade engines by itself",
				f.kubectl("patch settings.longhorn.io " + s.Name + ` --type merge -p '{"value":"0"}'`)})
		}
	}
	return out
}

// working returns the work that an engine does.
func working(e *v1beta2.Engine) string {
	if e.Status.IsExpanding {
		return "expands"
	}
	if v1beta2.IsRebuilding(e.Status.RebuildStatus) {
		return "rebuilds a replica"
	}
	if v1beta2.IsRestoring(e.Status.RestoreStatus) {
		return "restores a backup"
	}
	return ""
}

// beside is what acts by itself beside Drover.
func (f Found) beside() (out []Obstacle) {
	for i := range f.CronJobs {
		c := &f.CronJobs[i]
		if ownedBy(c, "RecurringJob") && !ptr.Deref(c.Spec.Suspend, false) {
			out = append(out, Obstacle{"CronJob " + c.Name,
				"runs the RecurringJob of its name over an API that is gone, and twice once longhorn-manager is back",
				f.kubectl("patch cronjobs.batch " + c.Name + ` --type merge -p '{"spec":{"suspend":true}}'`)})
		}
	}
	return append(out, f.deployed(deployer, "gives the sidecars their replicas back when it restarts")...)
}

func (f Found) managers() (out []Obstacle) {
	for i := range f.DaemonSets {
		if d := &f.DaemonSets[i]; d.Name == manager && (d.Status.DesiredNumberScheduled > 0 || d.Status.CurrentNumberScheduled > 0) {
			out = append(out, Obstacle{"DaemonSet " + d.Name,
				fmt.Sprintf("runs on %d nodes and writes the same objects; a DaemonSet cannot be scaled", d.Status.CurrentNumberScheduled),
				f.kubectl("patch daemonsets.apps "+d.Name+
					` --type merge -p '{"spec":{"template":{"spec":{"nodeSelector":{"drover.dev/taken-over":"true"}}}}}'`) +
					"; then wait until its last pod has ended"})
		}
	}
	for i := range f.Pods {
		if p := &f.Pods[i]; p.Status.Phase == corev1.PodRunning {
			out = append(out, Obstacle{"Pod " + p.Name, "of longhorn-manager runs on node " + p.Spec.NodeName +
				" and writes the same objects",
				"wait until it has ended; on a machine that is certainly off: " +
					f.kubectl("delete pods "+p.Name+" --force --grace-period=0")})
		}
	}
	return out
}

// webhooks refuse every write, of all of the cluster's claims, too, once no longhorn-manager answers them.
func (f Found) webhooks() (out []Obstacle) {
	const why = "refuses each write of Longhorn's objects, and of each PersistentVolumeClaim of the cluster, once no longhorn-manager runs"
	for i := range f.Validating {
		if name := f.Validating[i].Name; name == ValidatingWebhook {
			out = append(out, Obstacle{"ValidatingWebhookConfiguration " + name, why, DeleteValidating})
		}
	}
	for i := range f.Mutating {
		if name := f.Mutating[i].Name; name == MutatingWebhook {
			out = append(out, Obstacle{"MutatingWebhookConfiguration " + name, why, DeleteMutating})
		}
	}
	for i := range f.Definitions {
		d := &f.Definitions[i]
		if d.Spec.Group == v1beta2.GroupVersion.Group && d.Spec.Conversion != nil &&
			d.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter {
			out = append(out, Obstacle{"CustomResourceDefinition " + d.Name, "asks longhorn-manager to convert its objects",
				"kubectl patch customresourcedefinitions.apiextensions.k8s.io " + d.Name +
					` --type merge -p '{"spec":{"conversion":{"strategy":"None","webhook":null}}}'`})
		}
	}
	return out
}

// The commands that take the webhooks away; longhorn-manager creates them again when it runs again.
const (
	DeleteValidating = "when the last longhorn-manager pod has ended: kubectl delete " +
		"validatingwebhookconfigurations.admissionregistration.k8s.io " + ValidatingWebhook
	DeleteMutating = "when the last longhorn-manager pod has ended: kubectl delete " +
		"mutatingwebhookconfigurations.admissionregistration.k8s.io " + MutatingWebhook
)

func (f Found) sidecars() []Obstacle {
	return append(f.deployed(attacher, "attaches over an API that is gone, and holds the lease under which attach-controller attaches "+
		"for Kubernetes"),
		f.deployed(snapshotter, "takes snapshots over an API that is gone, and holds the lease under which snapshot-controller takes "+
			"them for Kubernetes")...)
}

// network is a policy that keeps im-monitor from every instance manager: those of Longhorn from v1.12.1 on let longhorn-manager in, and
// no other control plane.
func (f Found) network() []Obstacle {
	closing := netpolicy.CutOff(f.Namespace, f.NetworkPolicies)
	if len(closing) == 0 {
		return nil
	}
	return []Obstacle{{"NetworkPolicy " + strings.Join(closing, ", "),
		"keeps im-monitor from every instance manager, where the network enforces policies: then no volume is attached, moved or repaired",
		f.kubectl("apply -f " + netpolicy.File)}}
}

// deployed is a Deployment of the name that has replicas.
func (f Found) deployed(name, why string) []Obstacle {
	for i := range f.Deployments {
		if d := &f.Deployments[i]; d.Name == name && ptr.Deref(d.Spec.Replicas, 1) > 0 {
			return []Obstacle{{"Deployment " + name, why, f.kubectl("scale deployments.apps " + name + " --replicas=0")}}
		}
	}
	return nil
}

// budgets are those that no controller deletes any more: im-monitor manages those of instance managers.
func (f Found) budgets() (out []Obstacle) {
	ours := map[string]bool{}
	for i := range f.Managers {
		ours[f.Managers[i].Name] = true
	}
	for i := range f.Budgets {
		name := f.Budgets[i].Name
		if ours[name] || !strings.HasPrefix(name, "csi-") && !strings.HasPrefix(name, "instance-manager-") {
			continue
		}
		out = append(out, Obstacle{"PodDisruptionBudget " + name, "stays for ever and may block drains",
			f.kubectl("delete poddisruptionbudgets.policy " + name)})
	}
	return out
}

func (f Found) kubectl(command string) string { return "kubectl -n " + f.Namespace + " " + command }

func ownedBy(o client.Object, kind string) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.Kind == kind })
}
