package upgrade

import (
	"fmt"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// Change is the fields of spec to write, and what they do, as a sentence. Without fields there is nothing to write.
type Change struct {
	Fields map[string]any
	Effect string
}

// maxRetries is the largest spec.maxRetries that is accepted.
const maxRetries = 100

// Pause returns the change that stops the upgrade at the next safe point. One in error is refused: upgrade-controller checks it again after
// any change of its spec.
func Pause(w *world.World, u *v1beta2.DataEngineUpgradeManager) (Change, error) {
	switch {
	case u.Status.State == v1beta2.UpgradeStateCompleted:
		return Change{}, fmt.Errorf("upgrade %s is completed: there is nothing to pause", u.Name)
	case u.Spec.Abort:
		return Change{}, fmt.Errorf("upgrade %s is being aborted, or was: resume it first with: %s", u.Name,
			w.Suggest("kubectl drover upgrade resume {name} -n {ns}", world.Values{"name": u.Name}))
	case u.Status.State == v1beta2.UpgradeStateError && !u.Spec.Paused:
		return Change{}, fmt.Errorf("upgrade %s is in error and does nothing: any change of its spec begins it again, this one, too; see: %s",
			u.Name,
			watch(w, u.Name))
	case u.Spec.Paused:
		return Change{Effect: "It is paused already."}, nil
	}
	return Change{Fields: map[string]any{"paused": true}, Effect: "It pauses after the node that is under way."}, nil
}

// Resume returns the change after which a paused, aborted or failed upgrade goes on. While it is being aborted, a node that is being rolled
// back comes to its end first.
func Resume(w *world.World, u *v1beta2.DataEngineUpgradeManager) (Change, error) {
	fields := map[string]any{}
	if u.Spec.Paused {
		fields["paused"] = false
	}
	if u.Spec.Abort {
		fields["abort"] = false
	}
	switch {
	case u.Status.State == v1beta2.UpgradeStateCompleted:
		return Change{}, fmt.Errorf("upgrade %s is completed, and does not begin again: create a DataEngineUpgradeManager of another name",
			u.Name)
	case u.Status.State == v1beta2.UpgradeStateAborting:
		return Change{Fields: fields, Effect: "It goes on; a node that is being rolled back comes to its end first."}, nil
	case len(fields) > 0:
		return Change{Fields: fields, Effect: "It goes on."}, nil
	case u.Status.State != v1beta2.UpgradeStateError:
		return Change{Effect: "It is not paused, aborted or in error: it goes on."}, nil
	case u.Spec.MaxRetries >= maxRetries:
		return Change{}, fmt.Errorf("upgrade %s is in error, and its spec.maxRetries is %d: lower that to try again with: %s", u.Name,
			u.Spec.MaxRetries, w.Suggest("kubectl -n {ns} edit lhum {name}", world.Values{"name": u.Name}))
	}
	return Change{Fields: map[string]any{"maxRetries": u.Spec.MaxRetries + 1},
		Effect: fmt.Sprintf("It is checked again: spec.maxRetries is %d.", u.Spec.MaxRetries+1)}, nil
}

// Abort returns the change that ends the upgrade.
func Abort(_ *world.World, u *v1beta2.DataEngineUpgradeManager) (Change, error) {
	switch {
	case u.Status.State == v1beta2.UpgradeStateCompleted:
		return Change{}, fmt.Errorf("upgrade %s is completed: there is nothing to abort", u.Name)
	case u.Spec.Abort:
		return Change{Effect: "It is aborted already."}, nil
	}
	effect := "It ends; no node is under way."
	if node := u.Status.UpgradingNode; node != "" {
		effect = fmt.Sprintf("It ends; node %s is rolled back if its instance manager was not replaced yet, and finished otherwise.", node)
	}
	return Change{Fields: map[string]any{"abort": true}, Effect: effect}, nil
}
