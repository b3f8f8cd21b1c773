//go:build !fast

package attach

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// K8: servers answer with an error although they carried a call out, and the volume attaches and detaches all the same.
func TestAV2VolumeAttachesAndDetachesAlthoughAnswersAreLost(t *testing.T) {
	ctx, w := fixture(t)
	lost := func(method string) {
		require.NoError(t, w.Inject(ctx, world.Fault{Kind: "error", Method: method, DataEngine: "v2", Code: "Internal", After: true, Times: 4}))
	}
	lost("InstanceCreate")
	require.NoError(t, w.Order(ctx, "lossy", v1beta2.DataEngineV2, 2, nil))
	require.NoError(t, w.Attach(ctx, "lossy", scenarios.Near, patience))
	require.NoError(t, w.WaitRobust(ctx, "lossy", v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.Write(ctx, "lossy", 1, "whole"))
	created := calls(ctx, t, w, "lossy-e-0", "InstanceCreate")
	require.Equal(t, 1, created, "the engine is not created over itself")
	lost("InstanceDelete")
	require.NoError(t, w.LetGo(ctx, "lossy", patience))
	require.NoError(t, w.Heal(ctx))
	require.NoError(t, w.Attach(ctx, "lossy", scenarios.Far, patience))
	require.NoError(t, w.Keeps(ctx, "lossy", 1, "whole"))
	require.NoError(t, w.LetGo(ctx, "lossy", patience))
	require.NoError(t, w.NoHarm(ctx))
}

// K8: an instance that comes up in error for no reason of its own shows that, is ended, and is created again without a person.
func TestAV2InstanceThatComesUpInErrorIsEndedAndCreatedAgain(t *testing.T) {
	ctx, w := fixture(t)
	for _, kind := range []string{"e", "ef"} {
		volume := "crooked-" + kind
		name := volume + "-" + kind + "-0"
		require.NoError(t, w.Order(ctx, volume, v1beta2.DataEngineV2, 2, nil))
		require.NoError(t, w.Attach(ctx, volume, scenarios.Near, patience))
		require.NoError(t, w.Write(ctx, volume, 1, "whole"))
		require.NoError(t, w.LetGo(ctx, volume, patience))
		before := calls(ctx, t, w, name, "InstanceCreate")
		require.NoError(t, w.Inject(ctx, world.Fault{Kind: "fail-create", DataEngine: "v2", Names: []string{name}}))
		require.NoError(t, w.Ticket(ctx, volume, "by-hand", v1beta2.AttacherLonghornAPI, scenarios.Near, nil))
		require.NoError(t, w.Wait(ctx, "two attempts, each ended", patience, func(ctx context.Context) (string, error) {
			created, ended := calls(ctx, t, w, name, "InstanceCreate")-before, calls(ctx, t, w, name, "InstanceDelete")
			if created >= 2 && ended >= 2 {
				return "", nil
			}
			return fmt.Sprintf("%d creations, %d deletions", created, ended), nil
		}))
		require.NoError(t, w.Heal(ctx))
		require.NoError(t, w.WaitAttached(ctx, volume, scenarios.Near, patience))
		require.NoError(t, w.WaitRobust(ctx, volume, v1beta2.VolumeRobustnessHealthy, patience))
		require.NoError(t, w.Keeps(ctx, volume, 1, "whole"))
		require.NoError(t, w.LetGo(ctx, volume, patience))
	}
	require.NoError(t, w.NoHarm(ctx))
}

// A v1 process that survives its end stays in the list until it is deleted again: the volume detaches all the same.
func TestAV1ProcessThatSurvivesItsEndIsDeletedAgain(t *testing.T) {
	ctx, w := fixture(t)
	require.NoError(t, w.Order(ctx, "stuck", v1beta2.DataEngineV1, 2, nil))
	require.NoError(t, w.Attach(ctx, "stuck", scenarios.Near, patience))
	require.NoError(t, w.Write(ctx, "stuck", 1, "whole"))
	require.NoError(t, w.Inject(ctx, world.Fault{Kind: "stuck-stop", Names: []string{"stuck-e-0"}}))
	require.NoError(t, w.LetGo(ctx, "stuck", patience))
	require.GreaterOrEqual(t, calls(ctx, t, w, "stuck-e-0", "InstanceDelete"), 2)
	require.NoError(t, w.Heal(ctx))
	require.NoError(t, w.Attach(ctx, "stuck", scenarios.Far, patience))
	require.NoError(t, w.Keeps(ctx, "stuck", 1, "whole"))
	require.NoError(t, w.LetGo(ctx, "stuck", patience))
}

// calls counts the calls of a method about an instance.
func calls(ctx context.Context, t *testing.T, w *world.World, name, method string) int {
	t.Helper()
	text, err := w.CallsOf(ctx, name)
	require.NoError(t, err)
	return strings.Count(text, " "+method+" on ")
}
