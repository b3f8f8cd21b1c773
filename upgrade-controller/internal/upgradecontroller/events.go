package upgradecontroller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

// actionUpgrade is what this controller was doing at each of its events.
const actionUpgrade = "Upgrade"

// nodeEvents are those of a status that was written over another, or of an object that goes.
func nodeEvents(before v1beta2.NodeDataEngineUpgradeStatus, v nodeupgrade.Verdict) []events.Event {
	var out []events.Event
	if v.DropFinalizer && v.Kept != "" {
		out = append(out, events.Event{Type: corev1.EventTypeNormal, Reason: "SnapshotsKept", Action: actionUpgrade,
			Note: v.Kept + " Delete each when none is left."})
	}
	after := v.Status
	if before.State != after.State {
		out = append(out, stateEvent(after.State, messageOf(after.Conditions, after.ErrorMessage)))
	}
	return append(out, stallEvents(before.Conditions, after.Conditions)...)
}

func planEvents(before, after v1beta2.DataEngineUpgradeManagerStatus) []events.Event {
	var out []events.Event
	if before.State != after.State {
		out = append(out, stateEvent(after.State, messageOf(after.Conditions, after.ErrorMessage)))
	}
	return append(out, stallEvents(before.Conditions, after.Conditions)...)
}

// messageOf is the text of a state's event.
func messageOf(list []v1beta2.Condition, errorMessage string) string {
	if errorMessage != "" {
		return errorMessage
	}
	if c := conditions.Get(list, v1beta2.UpgradeProgressing); c != nil {
		return c.Message
	}
	return ""
}

// reasons are the events' reasons by the state that was entered.
var reasons = map[string]string{
	v1beta2.UpgradeStateUndefined:                "Accepted",
	v1beta2.UpgradeStateInitializing:             "Initializing",
	v1beta2.UpgradeStateUpgrading:                "Upgrading",
	v1beta2.UpgradeStateAborting:                 "Aborting",
	v1beta2.UpgradeStatePaused:                   "Paused",
	v1beta2.UpgradeStateSwitchingOver:            "SwitchingOver",
	v1beta2.UpgradeStateDetachingReplicas:        "DetachingReplicas",
	v1beta2.UpgradeStateUpgradingInstanceManager: "UpgradingInstanceManager",
	v1beta2.UpgradeStateSwitchingBack:            "SwitchingBack",
	v1beta2.UpgradeStateRebuildingReplica:        "RebuildingReplica",
	v1beta2.UpgradeStateRollingBack:              "RollingBack",
	v1beta2.UpgradeStateCompleted:                "Completed",
	v1beta2.UpgradeStateError:                    "Failed",
}

// stateEvent is a warning where the upgrade does not go as planned.
func stateEvent(state, note string) events.Event {
	kind := corev1.EventTypeNormal
	switch state {
	case v1beta2.UpgradeStateError, v1beta2.UpgradeStateRollingBack, v1beta2.UpgradeStateAborting:
		kind = corev1.EventTypeWarning
	}
	return events.Event{Type: kind, Reason: reasons[state], Action: actionUpgrade, Note: note}
}

func stallEvents(before, after []v1beta2.Condition) []events.Event {
	was, is := conditions.IsTrue(before, v1beta2.UpgradeStalled), conditions.Get(after, v1beta2.UpgradeStalled)
	if was || is == nil || is.Status != v1beta2.ConditionTrue {
		return nil
	}
	return []events.Event{stalledEvent(is.Message)}
}

func stalledEvent(message string) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "Stalled", Action: actionUpgrade,
		Note: fmt.Sprintf("The upgrade still waits. %s", message)}
}
