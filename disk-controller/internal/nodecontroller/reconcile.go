package nodecontroller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/disk-controller/internal/defaults"
	"drover.dev/drover/disk-controller/internal/environment"
	"drover.dev/drover/disk-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/retry"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/shared/status"
)

type reconciler struct {
	Options
	rt       *runkit.Runtime
	settings *settingcontroller.Source[setting.Values]
	random   func() float64

	// found has the facts of the latest check; next is the time of the next check. Only one worker uses them.
	found environment.Facts
	next  time.Time
}

// retryPause is the time until a directory that cannot be used is tried again.
const retryPause = 30 * time.Second

// types returns the conditions of a Node that are written here.
func types() []string { return append(environment.Types(), v1beta2.NodeDefaultsApplied) }

// Reconcile gives the Node its default disks and tags, and brings its conditions up to date.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	if request.Name != r.Node {
		return ctrl.Result{}, nil
	}
	n, err := lookup.Get(ctx, r.rt.Client, request.Namespace, request.Name, &v1beta2.Node{})
	if err != nil || n == nil || n.DeletionTimestamp != nil {
		return ctrl.Result{}, err
	}
	r.check()
	v, err := r.decide(ctx, n)
	if err != nil {
		return ctrl.Result{}, err
	}
	if v.Writes() {
		err = r.give(ctx, n, v)
	}
	if err == nil {
		err = r.report(ctx, n, v)
	}
	if status.IsConflict(err) {
		return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
	}
	return ctrl.Result{RequeueAfter: r.again(v)}, client.IgnoreNotFound(err)
}

// check looks at the host if that is due.
func (r *reconciler) check() {
	if now := r.rt.Clock.Now(); !now.Before(r.next) {
		r.found, r.next = r.Host.Look(), now.Add(retry.Jitter(r.CheckPeriod, r.random))
	}
}

// again returns the time until the host is checked, or until a directory that cannot be used is tried again.
func (r *reconciler) again(v defaults.Verdict) time.Duration {
	after := kube.Until(r.next, r.rt.Clock.Now())
	if slices.ContainsFunc(v.Problems, func(p defaults.Problem) bool { return p.Reason == v1beta2.ReasonNoDirectory }) {
		after = min(after, retry.Jitter(retryPause, r.random))
	}
	return after
}

// decide reads the settings and the Kubernetes node, and decides on the disks and tags of the Node.
func (r *reconciler) decide(ctx context.Context, n *v1beta2.Node) (defaults.Verdict, error) {
	values, err := r.settings.Current(ctx, v1beta2.DataEngineV1)
	if err != nil {
		return defaults.Verdict{}, err
	}
	kubernetes, err := lookup.Get(ctx, r.rt.Client, "", r.Node, &corev1.Node{})
	if err != nil {
		return defaults.Verdict{}, err
	}
	w := defaults.World{Node: n.Name, HasDisks: len(n.Spec.Disks) > 0, HasTags: len(n.Spec.Tags) > 0,
		Request: n.Annotations[v1beta2.AnnotationDefaultDisk], Settings: values.DefaultDisk,
		V2: r.settings.InForce(v1beta2.DataEngineV2).V2, Look: r.Look}
	if kubernetes != nil {
		w.Label, w.Disks, w.Tags = kubernetes.Labels[defaults.LabelCreate], kubernetes.Annotations[defaults.AnnotationDisks],
			kubernetes.Annotations[defaults.AnnotationTags]
	}
	return defaults.Decide(w), nil
}

// give writes the disks and tags and ends the request in one write, bound to the version that was decided on: a person who adds a disk
// meanwhile wins. The Node becomes the version that was written.
func (r *reconciler) give(ctx context.Context, n *v1beta2.Node, v defaults.Verdict) error {
	changed := n.DeepCopy()
	if len(v.Disks) > 0 {
		changed.Spec.Disks = v.Disks
	}
	if len(v.Tags) > 0 {
		changed.Spec.Tags = v.Tags
	}
	if v.EndRequest {
		delete(changed.Annotations, v1beta2.AnnotationDefaultDisk)
	}
	err := r.rt.Client.Patch(ctx, changed, client.MergeFromWithOptions(n.DeepCopy(), client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return fmt.Errorf("giving node %s its defaults: %w", n.Name, err)
	}
	r.rt.Log.Info("Wrote defaults of a node", "node", n.Name, "disks", len(v.Disks), "tags", len(v.Tags))
	for _, key := range slices.Sorted(maps.Keys(v.Disks)) {
		events.Emit(r.rt.Recorder, n, events.Event{Type: corev1.EventTypeNormal, Reason: "DefaultDiskAdded", Action: "AddDefaultDisk",
			Note: fmt.Sprintf("Disk %s at %s was added to the node, which had no disk.", key, v.Disks[key].Path)})
	}
	*n = *changed
	return nil
}

// report writes the conditions if they differ.
func (r *reconciler) report(ctx context.Context, n *v1beta2.Node, v defaults.Verdict) error {
	old := conditions.Owned(n.Status.Conditions, types()...)
	wanted := r.wanted(old, v)
	if !conditions.Equal(old, wanted) {
		fields := map[string]any{"conditions": status.ConditionsField(wanted)}
		if err := status.Apply(ctx, r.rt.Client, n, fieldOwner, fields, status.AtVersion()); err != nil {
			return err
		}
		r.rt.Log.Info("Wrote conditions of a node", "node", n.Name)
	}
	return nil
}

// wanted returns the conditions as they are to be.
func (r *reconciler) wanted(old []v1beta2.Condition, v defaults.Verdict) []v1beta2.Condition {
	out, now := conditions.Remove(old, v1beta2.NodeDefaultsApplied), r.rt.Clock.Now()
	for _, c := range environment.Evaluate(r.found, r.Node, r.settings.InForce(v1beta2.DataEngineV2).V2) {
		out = conditions.Set(out, c, now)
	}
	if len(v.Problems) == 0 {
		return out
	}
	texts := make([]string, 0, len(v.Problems))
	for _, p := range v.Problems {
		texts = append(texts, p.Text)
	}
	c := v1beta2.Condition{Type: v1beta2.NodeDefaultsApplied, Status: v1beta2.ConditionFalse, Reason: v.Problems[0].Reason,
		Message: strings.Join(texts, " ")}
	if before := conditions.Get(old, c.Type); before != nil {
		out = append(out, *before)
	}
	return conditions.Set(out, c, now)
}
