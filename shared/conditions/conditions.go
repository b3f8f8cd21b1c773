// Package conditions reads and builds condition lists. A list belongs to several controllers, each of which owns some
// of its types; nothing here writes to the API server (see package status) and nothing modifies a list that it was given.
package conditions

import (
	"slices"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Get returns a copy of the condition of that type, or nil. A reason that a newer version wrote by its new name has the name that it has in
// this version.
func Get(list []v1beta2.Condition, conditionType string) *v1beta2.Condition {
	for i := range list {
		if list[i].Type == conditionType {
			found := list[i]
			found.Reason = v1beta2.PresentReason(conditionType, found.Reason)
			return &found
		}
	}
	return nil
}

// IsTrue reports whether the condition exists and is True.
func IsTrue(list []v1beta2.Condition, conditionType string) bool {
	c := Get(list, conditionType)
	return c != nil && c.Status == v1beta2.ConditionTrue
}

// IsFalse reports whether the condition is there and False; an absent one is neither true nor false.
func IsFalse(list []v1beta2.Condition, conditionType string) bool {
	c := Get(list, conditionType)
	return c != nil && c.Status == v1beta2.ConditionFalse
}

// Reason returns the condition's reason, or "" where the condition is absent.
func Reason(list []v1beta2.Condition, conditionType string) string {
	if c := Get(list, conditionType); c != nil {
		return c.Reason
	}
	return ""
}

// Set returns the list with the condition put in. The transition time becomes now (UTC, RFC 3339) only where the
// status changed, else the old one stays.
func Set(list []v1beta2.Condition, wanted v1beta2.Condition, now time.Time) []v1beta2.Condition {
	wanted.LastTransitionTime = now.UTC().Format(time.RFC3339)
	if old := Get(list, wanted.Type); old != nil && old.Status == wanted.Status && old.LastTransitionTime != "" {
		wanted.LastTransitionTime = old.LastTransitionTime
	}
	out := Remove(list, wanted.Type)
	return append(out, wanted)
}

// Remove returns the list without the condition of that type.
func Remove(list []v1beta2.Condition, conditionType string) []v1beta2.Condition {
	out := make([]v1beta2.Condition, 0, len(list)+1)
	for _, c := range list {
		if c.Type != conditionType {
			out = append(out, c)
		}
	}
	return out
}

// Owned returns those conditions whose type is one of types, ordered by type.
func Owned(list []v1beta2.Condition, types ...string) []v1beta2.Condition {
	var out []v1beta2.Condition
	for _, c := range list {
		if slices.Contains(types, c.Type) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b v1beta2.Condition) int { return strings.Compare(a.Type, b.Type) })
	return out
}

// Equal reports whether two lists are equal; order and times do not matter.
func Equal(a, b []v1beta2.Condition) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		y := Get(b, x.Type)
		if y == nil || x.Status != y.Status || v1beta2.PresentReason(x.Type, x.Reason) != y.Reason || x.Message != y.Message ||
			x.ObservedGeneration != y.ObservedGeneration {
			return false
		}
	}
	return true
}
