//go:build !fast

package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const (
	near, far, third = scenarios.Near, scenarios.Far, scenarios.Third
	patience         = 2 * scenarios.Patience
	// grace is the grace period of auto deletion, as short as in the other scenarios; watching is several times longer.
	grace    = 2 * time.Second
	watching = 15 * grace
	// writesEvery is how often a workload writes.
	writesEvery = 50 * time.Millisecond
)

// here is the one World of this test binary.
var here *world.World

func TestMain(m *testing.M) {
	harness.Main(m, world.Options{Nodes: scenarios.Nodes, Record: true, Attach: true},
		func(_ context.Context, w *world.World) error { here = w; return nil })
}

// order creates a volume and attaches it near.
func order(t *testing.T, ctx context.Context, dataEngine string, replicas int) string {
	t.Helper()
	name := world.Unique("restored")
	require.NoError(t, here.Order(ctx, name, dataEngine, replicas, nil))
	require.NoError(t, here.Attach(ctx, name, near, patience))
	require.NoError(t, here.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, here.WriteOn(ctx, name, writesEvery))
	require.NoError(t, here.WaitWritten(ctx, name, patience))
	return name
}

// replace deletes the volume's replica on a node, and waits until another one has taken its place.
func replace(t *testing.T, ctx context.Context, volume, node string) {
	t.Helper()
	old, err := here.ReplicaOn(ctx, volume, node)
	require.NoError(t, err)
	require.NoError(t, here.Admin.Delete(ctx, old))
	require.NoError(t, here.Wait(ctx, "another replica than "+old.Name, patience, func(ctx context.Context) (string, error) {
		replicas, err := here.ReplicasOf(ctx, volume)
		if err != nil {
			return "", err
		}
		var listed []string
		for _, r := range replicas {
			listed = append(listed, fmt.Sprintf("%s on %s healthy %q", r.Name, r.Spec.NodeID, r.Spec.HealthyAt))
			if r.Name == old.Name || r.Spec.HealthyAt == "" {
				return strings.Join(listed, ", "), nil
			}
		}
		if len(replicas) != 2 {
			return strings.Join(listed, ", "), nil
		}
		return "", nil
	}))
}

// heldFor waits until every instance of the volume has an Orphan that is held for one of the reasons.
func heldFor(t *testing.T, ctx context.Context, volume string, instances int, reasons ...string) {
	t.Helper()
	require.NoError(t, here.Wait(ctx, "held orphans of "+volume, patience, func(ctx context.Context) (string, error) {
		orphans, err := here.Orphans(ctx)
		if err != nil {
			return "", err
		}
		held, listed := 0, []string{}
		for _, o := range orphans {
			name := o.Spec.Parameters[v1beta2.OrphanParameterInstanceName]
			if !strings.HasPrefix(name, volume+"-") {
				continue
			}
			listed = append(listed, name+world.FormatConditions(o.Status.Conditions))
			for _, reason := range reasons {
				if conditions.Reason(o.Status.Conditions, v1beta2.OrphanCleanupApproved) == reason {
					held++
				}
			}
		}
		if held != instances {
			return fmt.Sprintf("%d of %d are held: %v", held, instances, listed), nil
		}
		return "", nil
	}))
}

// TestNothingCreatedSinceTheBackupIsDestroyed is the scenario of an etcd that was restored: (a) attached volumes, (b) detached v2
// volumes, (c) volumes whose replicas were replaced since, attached all the while, or detached in between: a volume of (c) is not
// attached with an empty replica in place of the written data.
func TestNothingCreatedSinceTheBackupIsDestroyed(t *testing.T) {
	ctx := harness.Open(t, here, 15*time.Minute)
	require.NoError(t, here.SetAutoDeletion(ctx, "instance;replica-data", fmt.Sprint(int(grace.Seconds()))))
	var rebuilt, attached, detached []string
	for _, engine := range world.DataEngines() {
		rebuilt = append(rebuilt, order(t, ctx, engine, 2))
	}
	// A detached v1 volume has no instance that could be an orphan.
	var rebuiltDetached []string
	if slices.Contains(world.DataEngines(), v1beta2.DataEngineV2) {
		rebuiltDetached = append(rebuiltDetached, order(t, ctx, v1beta2.DataEngineV2, 2))
	}
	backup, err := here.BackUpEtcd(ctx)
	require.NoError(t, err)
	require.NoError(t, here.WaitManagers(ctx, patience))

	for _, volume := range slices.Concat(rebuiltDetached, rebuilt) {
		first, err := here.ReplicasOf(ctx, volume)
		require.NoError(t, err)
		for _, r := range first {
			replace(t, ctx, volume, r.Spec.NodeID)
		}
	}
	for _, engine := range world.DataEngines() {
		attached = append(attached, order(t, ctx, engine, 2))
	}
	if len(rebuiltDetached) > 0 {
		detached = append(detached, order(t, ctx, v1beta2.DataEngineV2, 2))
	}
	for _, volume := range slices.Concat(rebuiltDetached, detached) {
		_, err := here.StopWriting(ctx, volume)
		require.NoError(t, err)
		require.NoError(t, here.LetGo(ctx, volume, patience))
	}
	writers := append(append([]string{}, rebuilt...), attached...)
	existing := running(t, ctx)
	earlier, err := here.Deletions(ctx)
	require.NoError(t, err)

	require.NoError(t, here.RestoreEtcd(ctx, backup))
	require.NoError(t, here.RestartControllers())

	for _, volume := range attached {
		heldFor(t, ctx, volume, 3, v1beta2.ReasonNotAbandoned)
	}
	for _, volume := range slices.Concat(detached, rebuilt, rebuiltDetached) {
		heldFor(t, ctx, volume, 2, v1beta2.ReasonNotAbandoned)
	}
	for _, volume := range rebuiltDetached {
		startsNothingEmpty(t, ctx, volume)
		// Its objects are those of the backup: attached, until attach-controller leads again.
		require.NoError(t, here.Wait(ctx, "the detachment of "+volume, patience,
			func(ctx context.Context) (string, error) { return served(ctx, volume) }))
	}
	require.NoError(t, here.Never(ctx, "a deletion", watching, func(ctx context.Context) (string, error) {
		deletions, err := here.Deletions(ctx)
		for _, d := range deletions[min(len(earlier), len(deletions)):] {
			if d.Executed && existing[d.UUIDFound] {
				calls, err := here.CallsOf(ctx, d.Name)
				return fmt.Sprintf("%+v\n%s", d, calls), err
			}
		}
		if err != nil {
			return "", err
		}
		for _, volume := range rebuiltDetached {
			if why, err := served(ctx, volume); why != "" || err != nil {
				return why, err
			}
		}
		return "", nil
	}))
	for _, volume := range slices.Concat(attached, detached) {
		require.Empty(t, objectsOf(t, ctx, volume), "%s does not exist: nothing is created for it", volume)
	}
	for _, volume := range writers {
		seen, err := here.StopWriting(ctx, volume)
		require.NoError(t, err)
		require.Empty(t, seen.Harm())
		require.NoError(t, here.Verify(ctx, volume))
	}
	for _, volume := range slices.Concat(rebuiltDetached, detached) {
		left, err := here.InstancesOf(ctx, volume)
		require.NoError(t, err)
		require.Equal(t, 2, strings.Count(left, volume+"-r-"), left)
	}
}

// objectsOf counts the Engines, EngineFrontends and Replicas of a volume, by type of list.
func objectsOf(t *testing.T, ctx context.Context, volume string) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, list := range []client.ObjectList{&v1beta2.EngineList{}, &v1beta2.EngineFrontendList{}, &v1beta2.ReplicaList{}} {
		require.NoError(t, here.Admin.List(ctx, list, client.InNamespace(here.Namespace), client.MatchingFields{"spec.volumeName": volume}))
		if n := meta.LenList(list); n > 0 {
			found[fmt.Sprintf("%T", list)] = n
		}
	}
	return found
}

// startsNothingEmpty waits until the volume's replicas, which were healthy at the time of the backup and whose data is gone, report that
// they are not created again: each that is to run, and one at least. One that the restored engine has dropped is marked as failed, and is
// not to run.
func startsNothingEmpty(t *testing.T, ctx context.Context, volume string) {
	t.Helper()
	require.NoError(t, here.Wait(ctx, "the replicas of "+volume+" to report that their data is missing", patience,
		func(ctx context.Context) (string, error) {
			replicas, err := here.ReplicasOf(ctx, volume)
			missing := 0
			var others []string
			for _, r := range replicas {
				switch {
				case conditions.Reason(r.Status.Conditions, v1beta2.InstanceCreation) == v1beta2.ReasonDataMissing:
					missing++
				case r.Spec.FailedAt == "" || r.Spec.DesireState == v1beta2.InstanceStateRunning:
					others = append(others, fmt.Sprintf("%s is wanted %s, failed at %q, reports %s", r.Name, r.Spec.DesireState, r.Spec.FailedAt,
						world.FormatConditions(r.Status.Conditions)))
				}
			}
			if missing == 0 || len(others) > 0 {
				return fmt.Sprintf("%d do: %v", missing, others), err
			}
			return "", err
		}))
}

// served reports whether the volume was attached for a ticket.
func served(ctx context.Context, name string) (string, error) {
	volume := &v1beta2.Volume{}
	if err := here.Get(ctx, name, volume); err != nil {
		return "", err
	}
	if volume.Status.State == v1beta2.VolumeStateAttached {
		return name + " is attached", nil
	}
	return "", nil
}

// running are the UUIDs of the instances that the data plane lists; a v2 frontend has none. What is started over objects of the backup, and
// stopped since its replicas are gone, is not among them.
func running(t *testing.T, ctx context.Context) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, node := range scenarios.Nodes {
		for _, engine := range world.DataEngines() {
			inventory, err := here.Inventory(ctx, here.InstanceManager(node, engine))
			require.NoError(t, err)
			for _, instance := range inventory {
				if instance.UUID != "" {
					out[instance.UUID] = true
				}
			}
		}
	}
	require.NotEmpty(t, out)
	return out
}
