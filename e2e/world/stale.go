package world

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Stale is a runtime instance that is, or will be, an orphan.
type Stale struct {
	Name, UUID, Type, DataEngine, InstanceManager, Node string
}

// Orphan is the name that the instance's Orphan must have.
func (s Stale) Orphan() string {
	return v1beta2.OrphanName(s.Name, s.UUID, s.InstanceManager, s.DataEngine)
}

// Object is the Orphan as documented.
func (s Stale) Object(namespace string) *v1beta2.Orphan {
	orphanType, label := v1beta2.OrphanTypeReplicaInstance, v1beta2.LabelReplica
	if s.Type == v1beta2.InstanceTypeEngine {
		orphanType, label = v1beta2.OrphanTypeEngineInstance, v1beta2.LabelEngine
	}
	return &v1beta2.Orphan{
		ObjectMeta: metav1.ObjectMeta{Name: s.Orphan(), Namespace: namespace, Finalizers: []string{v1beta2.Finalizer},
			Labels: map[string]string{
				v1beta2.LabelComponent: v1beta2.ComponentOrphan, v1beta2.LabelManagedBy: v1beta2.ManagedByLonghornManager,
				v1beta2.LabelOrphanType: orphanType, v1beta2.LabelNode: s.Node, v1beta2.LabelInstanceManager: s.InstanceManager,
				label: s.Name,
			}},
		Spec: v1beta2.OrphanSpec{DataEngine: s.DataEngine, NodeID: s.Node, OrphanType: orphanType, Parameters: map[string]string{
			v1beta2.OrphanParameterInstanceName: s.Name, v1beta2.OrphanParameterInstanceUUID: s.UUID,
			v1beta2.OrphanParameterInstanceManager: s.InstanceManager,
		}},
	}
}

// Stale are the volume's instances that run on the node now: orphans as soon as the volume is elsewhere.
func (w *World) Stale(ctx context.Context, v *Volume, node string) ([]Stale, error) {
	manager := w.InstanceManager(node, v.DataEngine)
	running, err := w.Inventory(ctx, manager)
	if err != nil {
		return nil, err
	}
	var out []Stale
	for _, name := range append([]string{v.Engine}, v.Replicas...) {
		if r, ok := running[name]; ok {
			out = append(out, Stale{Name: name, UUID: r.UUID, Type: r.Type, DataEngine: v.DataEngine, InstanceManager: manager, Node: node})
		}
	}
	return out, nil
}

// WaitOrphan waits until the instance's Orphan exists with the conditions Orphaned and InstanceState True.
func (w *World) WaitOrphan(ctx context.Context, s Stale, within time.Duration) (*v1beta2.Orphan, error) {
	orphan := &v1beta2.Orphan{}
	err := w.Wait(ctx, "the orphan of "+s.Name+" on "+s.Node, within, func(ctx context.Context) (string, error) {
		if err := w.Get(ctx, s.Orphan(), orphan); err != nil {
			return "", err
		}
		for _, condition := range []string{v1beta2.OrphanOrphaned, v1beta2.OrphanInstanceState} {
			if !conditions.IsTrue(orphan.Status.Conditions, condition) {
				return "condition " + condition + " is not True yet: " + FormatConditions(orphan.Status.Conditions), nil
			}
		}
		return "", nil
	})
	return orphan, err
}

// WaitCondition waits until an Orphan's condition has the status and reason; an empty reason means any.
func (w *World) WaitCondition(ctx context.Context, orphan, condition string, status v1beta2.ConditionStatus, reason string,
	within time.Duration) error {
	seen := false
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	return w.Wait(ctx, fmt.Sprintf("%s=%s/%s on %s", condition, status, reason, orphan), within, func(ctx context.Context) (string, error) {
		object := &v1beta2.Orphan{}
		if err := w.Get(ctx, orphan, object); err != nil {
			if seen && client.IgnoreNotFound(err) == nil {
				giveUp(err) // it existed and has ended: the condition will not come any more
			}
			return "the orphan does not exist", nil
		}
		seen = true
		c := conditions.Get(object.Status.Conditions, condition)
		if c == nil || c.Status != status || (reason != "" && c.Reason != reason) {
			return "it reports " + FormatConditions(object.Status.Conditions), nil
		}
		return "", nil
	})
}

// WaitOrphanGone waits until the Orphan object does not exist.
func (w *World) WaitOrphanGone(ctx context.Context, name string, within time.Duration) error {
	return w.Wait(ctx, "the end of "+name, within, func(ctx context.Context) (string, error) {
		object := &v1beta2.Orphan{}
		err := w.Get(ctx, name, object)
		if client.IgnoreNotFound(err) != nil {
			return "", err
		}
		if err != nil {
			return "", nil
		}
		return "it reports " + FormatConditions(object.Status.Conditions), nil
	})
}

// DeleteOrphan deletes an Orphan as a person would.
func (w *World) DeleteOrphan(ctx context.Context, name string) error {
	object := &v1beta2.Orphan{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.Namespace}}
	if err := w.Admin.Delete(ctx, object); err != nil {
		return fmt.Errorf("deleting orphan %s: %w", name, err)
	}
	return nil
}

// NoOrphans lists the orphans, as a text; empty when there are none.
func (w *World) NoOrphans(ctx context.Context) (string, error) {
	orphans, err := w.Orphans(ctx)
	var names []string
	for _, orphan := range orphans {
		names = append(names, orphan.Spec.Parameters[v1beta2.OrphanParameterInstanceName]+" "+FormatConditions(orphan.Status.Conditions))
	}
	return strings.Join(names, "; "), err
}

// OrphansAre lists which orphans of instances are missing or unexpected. Orphans of data follow them.
func (w *World) OrphansAre(ctx context.Context, wanted []Stale) error {
	orphans, err := w.Orphans(ctx)
	if err != nil {
		return err
	}
	there := map[string]string{}
	for _, orphan := range orphans {
		if orphan.Spec.OrphanType != v1beta2.OrphanTypeReplicaData {
			there[orphan.Name] = orphan.Spec.Parameters[v1beta2.OrphanParameterInstanceName]
		}
	}
	var wrong []string
	for _, s := range wanted {
		if _, ok := there[s.Orphan()]; !ok {
			wrong = append(wrong, "missing: "+s.Name)
		}
		delete(there, s.Orphan())
	}
	for _, instance := range there {
		wrong = append(wrong, "too many: "+instance)
	}
	if len(wrong) > 0 {
		sort.Strings(wrong)
		return fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return nil
}

// Gone fails while this very instance is listed.
func (w *World) Gone(ctx context.Context, s Stale) error {
	running, err := w.Inventory(ctx, s.InstanceManager)
	if err != nil {
		return err
	}
	if r, ok := running[s.Name]; ok && r.UUID == s.UUID {
		return fmt.Errorf("%s with UUID %s is still listed on %s as %s", s.Name, s.UUID, s.Node, r.State)
	}
	return nil
}

// Runs fails unless an instance of that name runs on the instance manager.
func (w *World) Runs(ctx context.Context, manager, name string) error {
	running, err := w.Inventory(ctx, manager)
	if err != nil {
		return err
	}
	if r, ok := running[name]; !ok || r.State != v1beta2.InstanceStateRunning {
		return fmt.Errorf("%s does not run on %s (state %q)", name, manager, r.State)
	}
	return nil
}

// Whole fails unless every instance that the volume's objects claim exists: it runs on its node; of a stopped v2 replica
// the data exists.
func (w *World) Whole(ctx context.Context, v *Volume) error {
	engine := &v1beta2.Engine{}
	if err := w.Get(ctx, v.Engine, engine); err != nil {
		return err
	}
	if engine.Status.CurrentState == v1beta2.InstanceStateRunning {
		if err := w.Runs(ctx, engine.Status.InstanceManagerName, v.Engine); err != nil {
			return err
		}
	}
	for _, name := range v.Replicas {
		if err := w.wholeReplica(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) wholeReplica(ctx context.Context, name string) error {
	replica := &v1beta2.Replica{}
	if err := w.Get(ctx, name, replica); err != nil {
		return err
	}
	if replica.Status.CurrentState == v1beta2.InstanceStateRunning {
		return w.Runs(ctx, replica.Status.InstanceManagerName, name)
	}
	if replica.Spec.DataEngine != v1beta2.DataEngineV2 {
		return nil
	}
	there, err := w.Inventory(ctx, w.InstanceManager(replica.Spec.NodeID, replica.Spec.DataEngine))
	if err != nil {
		return err
	}
	if _, ok := there[name]; !ok {
		return fmt.Errorf("the data of the detached replica %s is not on %s any more", name, replica.Spec.NodeID)
	}
	return nil
}

// FormatConditions formats conditions as type=status/reason.
func FormatConditions(list []v1beta2.Condition) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
	}
	if len(out) == 0 {
		return "no condition"
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}
