package setting

import (
	"fmt"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Status is the wanted status of a Setting, and whether it differs from the present one. refused is why its value cannot be read, nil if it
// can.
func Status(obj *v1beta2.Setting, refused error, now time.Time) (v1beta2.SettingStatus, bool) {
	wanted := v1beta2.Condition{Type: v1beta2.SettingApplied, Status: v1beta2.ConditionFalse, ObservedGeneration: obj.Generation}
	switch obeying := Obeying(obj.Name); {
	case len(obeying) == 0:
		wanted.Reason, wanted.Message = v1beta2.ReasonNotObeyed, "No controller of Drover obeys this setting: its value changes nothing."
	case refused != nil:
		wanted.Reason, wanted.Message = v1beta2.ReasonInvalidValue, Refused(refused)
	default:
		wanted.Status, wanted.Reason, wanted.Message = v1beta2.ConditionTrue, v1beta2.ReasonInForce, "Obeyed by "+
			strings.Join(obeying, ", ")+"."
	}
	is := conditions.Owned(obj.Status.Conditions, v1beta2.SettingApplied)
	if wanted.Reason == v1beta2.ReasonNotObeyed && obeyedByANewer(is, obj.Generation) {
		return obj.Status, false
	}
	merged := conditions.Set(is, wanted, now)
	applied := wanted.Status == v1beta2.ConditionTrue
	same := obj.Status.Applied == applied && obj.Status.ObservedGeneration == obj.Generation && conditions.Equal(is, merged)
	return v1beta2.SettingStatus{Applied: applied, ObservedGeneration: obj.Generation, Conditions: merged}, !same
}

// obeyedByANewer reports whether a binary that obeys the Setting has written about the present value: one of a newer version, since this
// version knows of none. Two versions side by side would otherwise overwrite each other without end.
func obeyedByANewer(is []v1beta2.Condition, generation int64) bool {
	return len(is) == 1 && is[0].ObservedGeneration == generation && is[0].Reason != "" && is[0].Reason != v1beta2.ReasonNotObeyed
}

// Refused is the sentence about a value that cannot be read.
func Refused(why error) string {
	return fmt.Sprintf("Refused: %v; the last good value of the running process stays in force, after a restart the default, "+
		"or that by which nothing is removed.", why)
}
