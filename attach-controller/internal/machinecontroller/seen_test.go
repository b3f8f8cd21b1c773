package machinecontroller

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/shell"
)

// reaches waits until the volume has this state and node.
func (w *world) reaches(v *v1beta2.Volume, state, node string) *v1beta2.Volume {
	w.t.Helper()
	return w.is(v, state+" on "+node, func(v *v1beta2.Volume) bool {
		return v.Status.State == state && v.Status.CurrentNodeID == node
	})
}

func (w *world) is(v *v1beta2.Volume, wanted string, holds func(*v1beta2.Volume) bool) *v1beta2.Volume {
	w.t.Helper()
	return testkit.WaitFor(w.t, w.admin, v, wanted, holds)
}

func (w *world) robustness(v *v1beta2.Volume, wanted string) *v1beta2.Volume {
	w.t.Helper()
	return w.is(v, wanted, func(v *v1beta2.Volume) bool { return v.Status.Robustness == wanted })
}

// says waits until a condition of the volume has this reason.
func (w *world) says(v *v1beta2.Volume, condition, reason string) *v1beta2.Condition {
	w.t.Helper()
	found := w.is(v, condition+" because "+reason, func(v *v1beta2.Volume) bool {
		return conditions.Reason(v.Status.Conditions, condition) == reason
	})
	return conditions.Get(found.Status.Conditions, condition)
}

func (w *world) engine(name, wanted string, holds func(*v1beta2.Engine) bool) *v1beta2.Engine {
	w.t.Helper()
	return testkit.WaitFor(w.t, w.admin, &v1beta2.Engine{ObjectMeta: w.meta(name)}, wanted, holds)
}

func (w *world) frontend(name, wanted string, holds func(*v1beta2.EngineFrontend) bool) *v1beta2.EngineFrontend {
	w.t.Helper()
	return testkit.WaitFor(w.t, w.admin, &v1beta2.EngineFrontend{ObjectMeta: w.meta(name)}, wanted, holds)
}

func (w *world) theReplica(name, wanted string, holds func(*v1beta2.Replica) bool) *v1beta2.Replica {
	w.t.Helper()
	return testkit.WaitFor(w.t, w.admin, &v1beta2.Replica{ObjectMeta: w.meta(name)}, wanted, holds)
}

// picture is what there is, for a test that failed.
func (w *world) picture() string {
	var b strings.Builder
	ctx, in := context.Background(), client.InNamespace(w.namespace)
	var engines v1beta2.EngineList
	var frontends v1beta2.EngineFrontendList
	var replicas v1beta2.ReplicaList
	for _, list := range []client.ObjectList{&engines, &frontends, &replicas} {
		if err := w.admin.List(ctx, list, in); err != nil {
			return err.Error()
		}
	}
	for _, e := range engines.Items {
		fmt.Fprintf(&b, "%s active=%t on %q %s → %s map %v modes %v\n", e.Name, e.Spec.Active, e.Spec.NodeID, e.Status.CurrentState,
			e.Spec.DesireState, e.Spec.ReplicaAddressMap, e.Status.ReplicaModeMap)
	}
	for _, f := range frontends.Items {
		fmt.Fprintf(&b, "%s of %s on %q %s → %s\n", f.Name, f.Spec.EngineName, f.Spec.NodeID, f.Status.CurrentState, f.Spec.DesireState)
	}
	for _, r := range replicas.Items {
		fmt.Fprintf(&b, "%s on %q %s → %s failed %q healthy %q\n", r.Name, r.Spec.NodeID, r.Status.CurrentState, r.Spec.DesireState,
			r.Spec.FailedAt, r.Spec.HealthyAt)
	}
	var said eventsv1.EventList
	if err := w.admin.List(ctx, &said, in); err != nil {
		return err.Error()
	}
	for _, e := range said.Items {
		fmt.Fprintf(&b, "%s: %s\n", e.Reason, e.Note)
	}
	if p := w.run.Current(); p != nil {
		fmt.Fprintf(&b, "%s\n", strings.Join(p.Client.Writes(), "\n"))
	}
	return b.String()
}

// events are how often events of that reason were emitted on the volume.
func (w *world) events(reason string) int {
	var list eventsv1.EventList
	require.NoError(w.t, w.admin.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
	count := 0
	for _, e := range list.Items {
		if e.Reason == reason {
			count++
			if e.Series != nil {
				count += int(e.Series.Count)
			}
		}
	}
	return count
}

// once waits until an event was emitted, and checks that it was emitted once.
func (w *world) once(reasons ...string) {
	w.t.Helper()
	for _, reason := range reasons {
		require.Eventually(w.t, func() bool { return w.events(reason) > 0 }, patience, poll, "no event %s", reason)
		require.Equal(w.t, 1, w.events(reason), reason)
	}
}

// quiet waits until the process has written nothing for a while: between two of its writes there may be a pause on a slow machine.
func (w *world) quiet(p *shell.Process) {
	w.t.Helper()
	const still = 600 * time.Millisecond
	count, since := len(p.Client.Writes()), time.Now()
	require.Eventually(w.t, func() bool {
		if now := len(p.Client.Writes()); now != count {
			count, since = now, time.Now()
		}
		return time.Since(since) > still
	}, patience, poll, "it never stops writing")
}

func extractNames(list client.ObjectList) (names []string, err error) {
	err = apimeta.EachListItem(list, func(obj runtime.Object) error {
		names = append(names, obj.(client.Object).GetName())
		return nil
	})
	return names, err
}
