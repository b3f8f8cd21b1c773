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

func TestWhatACommandDoesToAnUpgradeDependsOnItsState(t *testing.T) {
	const completed, failed, upgrading, aborting = v1beta2.UpgradeStateCompleted, v1beta2.UpgradeStateError, v1beta2.UpgradeStateUpgrading,
		v1beta2.UpgradeStateAborting
	at := func(u *v1beta2.DataEngineUpgradeManager, node string, retries int) *v1beta2.DataEngineUpgradeManager {
		u.Status.UpgradingNode, u.Spec.MaxRetries = node, retries
		return u
	}
	for name, test := range map[string]struct {
		command func(*world.World, *v1beta2.DataEngineUpgradeManager) (Change, error)
		upgrade *v1beta2.DataEngineUpgradeManager
		want    Change
		refused string
	}{
		"pause a completed one": {Pause, inState(completed, false, false), Change{}, "upgrade upgrade-1 is completed: there is nothing to pause"},
		"pause one that is being aborted": {Pause, inState(aborting, false, true), Change{},
			"upgrade upgrade-1 is being aborted, or was: resume it first with: kubectl drover upgrade resume upgrade-1 -n longhorn-system"},
		"pause one in error": {Pause, inState(failed, false, false), Change{}, "upgrade upgrade-1 is in error and does nothing: any change of " +
			"its spec begins it again, this one, too; see: kubectl drover upgrade watch upgrade-1 -n longhorn-system"},
		"pause a paused one in error": {Pause, inState(failed, true, false), Change{Effect: "It is paused already."}, ""},
		"pause a paused one":          {Pause, inState(upgrading, true, false), Change{Effect: "It is paused already."}, ""},
		"pause one": {Pause, inState(upgrading, false, false), Change{Fields: map[string]any{"paused": true},
			Effect: "It pauses after the node that is under way."}, ""},
		"resume a completed one": {Resume, inState(completed, true, true), Change{},
			"upgrade upgrade-1 is completed, and does not begin again: create a DataEngineUpgradeManager of another name"},
		"resume a paused one": {Resume, inState(upgrading, true, false), Change{Fields: map[string]any{"paused": false}, Effect: "It goes on."},
			""},
		"resume one that was paused and aborted": {Resume, inState(aborting, true, true), Change{Fields: map[string]any{"paused": false,
			"abort": false}, Effect: "It goes on; a node that is being rolled back comes to its end first."}, ""},
		"resume one that goes on": {Resume, inState(upgrading, false, false),
			Change{Effect: "It is not paused, aborted or in error: it goes on."}, ""},
		"resume one in error": {Resume, at(inState(failed, false, false), "", 3), Change{Fields: map[string]any{"maxRetries": 4},
			Effect: "It is checked again: spec.maxRetries is 4."}, ""},
		"resume one in error with the last number of retries": {Resume, at(inState(failed, false, false), "", 99),
			Change{Fields: map[string]any{"maxRetries": 100}, Effect: "It is checked again: spec.maxRetries is 100."}, ""},
		"resume one in error without a number left": {Resume, at(inState(failed, false, false), "", 100), Change{},
			"upgrade upgrade-1 is in error, and its spec.maxRetries is 100: lower that to try again with: " +
				"kubectl -n longhorn-system edit lhum upgrade-1"},
		"abort a completed one": {Abort, inState(completed, false, false), Change{}, "upgrade upgrade-1 is completed: there is nothing to abort"},
		"abort an aborted one":  {Abort, inState(aborting, false, true), Change{Effect: "It is aborted already."}, ""},
		"abort one between nodes": {Abort, inState(upgrading, false, false), Change{Fields: map[string]any{"abort": true},
			Effect: "It ends; no node is under way."}, ""},
		"abort one on a node": {Abort, at(inState(upgrading, false, false), "node-2", 0), Change{Fields: map[string]any{"abort": true},
			Effect: "It ends; node node-2 is rolled back if its instance manager was not replaced yet, and finished otherwise."}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			change, err := test.command(w, test.upgrade)
			if test.refused != "" {
				require.EqualError(t, err, test.refused)
				require.Empty(t, change.Fields)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, change)
		})
	}
}
