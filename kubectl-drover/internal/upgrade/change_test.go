package upgrade

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

var w = &world.World{Namespace: "longhorn-system"}

func inState(state string, paused, abort bool) *v1beta2.DataEngineUpgradeManager {
	u := &v1beta2.DataEngineUpgradeManager{}
	u.Name, u.Namespace = "upgrade-1", "longhorn-system"
	u.Spec.Paused, u.Spec.Abort, u.Status.State = paused, abort, state
	return u
}

// Any change of the spec of an upgrade in error begins it again: pause must not.
func TestAnUpgradeInErrorIsNotPaused(t *testing.T) {
	change, err := Pause(w, inState(v1beta2.UpgradeStateError, false, false))
	require.ErrorContains(t, err, "upgrade upgrade-1 is in error and does nothing")
	require.Empty(t, change.Fields)

	change, err = Pause(w, inState(v1beta2.UpgradeStateUpgrading, false, false))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"paused": true}, change.Fields)
}

// An abort that is taken back ends with the node that is being rolled back, then the upgrade goes on.
func TestAnUpgradeIsResumedWhileItIsBeingAborted(t *testing.T) {
	for _, state := range []string{v1beta2.UpgradeStateAborting, v1beta2.UpgradeStateError} {
		change, err := Resume(w, inState(state, false, true))
		require.NoError(t, err)
		require.Equal(t, map[string]any{"abort": false}, change.Fields)
		require.Contains(t, change.Effect, "It goes on")
	}
	change, err := Resume(w, inState(v1beta2.UpgradeStateAborting, false, false))
	require.NoError(t, err)
	require.Empty(t, change.Fields, "it was taken back already")
}
