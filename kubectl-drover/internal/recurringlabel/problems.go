// Package recurringlabel explains labels of Volumes and claims that are to name recurring jobs and have no effect.
package recurringlabel

import (
	"maps"
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// Reasons why a label has no effect.
const (
	JobMissing   = "RecurringJobMissing"
	GroupMissing = "RecurringGroupMissing"
	NotEnabled   = "RecurringLabelNotEnabled"
)

// Jobs are the names of the jobs that exist, and of the groups that any of them has.
type Jobs struct{ Names, Groups map[string]bool }

// JobsOf are those of a list. One that is being deleted does not count.
func JobsOf(list []v1beta2.RecurringJob) Jobs {
	out := Jobs{Names: map[string]bool{}, Groups: map[string]bool{}}
	for i := range list {
		if list[i].DeletionTimestamp != nil {
			continue
		}
		out.Names[list[i].Name] = true
		for _, group := range list[i].Spec.Groups {
			out.Groups[group] = true
		}
	}
	return out
}

// Problem is one label that has no effect.
type Problem struct {
	Label, Reason string
	// Message is a sentence or more, with the next step.
	Message string
}

// named reports whether a label is to name a job or a group of jobs.
func named(label string) bool {
	return label != v1beta2.LabelRecurringSource &&
		(strings.HasPrefix(label, v1beta2.LabelRecurringJobPrefix) || strings.HasPrefix(label, v1beta2.LabelRecurringGroupPrefix))
}

// OfVolume returns the labels of a volume that have no effect, in order.
func OfVolume(labels map[string]string, jobs Jobs) []Problem {
	counts := false
	for label, value := range labels {
		counts = counts || named(label) && value == v1beta2.RecurringEnabled
	}
	var out []Problem
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		if !named(label) {
			continue
		}
		if p := problem(label, labels[label], jobs, counts); p != nil {
			out = append(out, *p)
		}
	}
	return out
}

// OfClaim returns the labels of a claim that have no effect, in order. A claim that is not the source of its volume's jobs names none.
func OfClaim(labels map[string]string, jobs Jobs) []Problem {
	switch value, there := labels[v1beta2.LabelRecurringSource]; {
	case !there:
		return nil
	case value != v1beta2.RecurringEnabled:
		return []Problem{{Label: v1beta2.LabelRecurringSource, Reason: NotEnabled, Message: "The label " + v1beta2.LabelRecurringSource +
			" has the value " + quoted(value) + " and does not count: the Volume's own labels name its jobs. Set it to enabled, or remove it."}}
	}
	return OfVolume(labels, jobs)
}

func problem(label, value string, jobs Jobs, others bool) *Problem {
	job, isJob := strings.CutPrefix(label, v1beta2.LabelRecurringJobPrefix)
	group, isGroup := strings.CutPrefix(label, v1beta2.LabelRecurringGroupPrefix)
	switch {
	case value != v1beta2.RecurringEnabled:
		message := "The label " + label + " has the value " + quoted(value) + " and does not count. Set it to enabled, or remove it."
		if !others {
			message += " Meanwhile the jobs of the group " + v1beta2.RecurringGroupDefault + " are for the volume, as no label names others."
		}
		return &Problem{Label: label, Reason: NotEnabled, Message: message}
	case isJob && !jobs.Names[job]:
		return &Problem{Label: label, Reason: JobMissing, Message: "The label " + label +
			" names a RecurringJob that does not exist: create it, or remove the label."}
	case isGroup && group != v1beta2.RecurringGroupDefault && !jobs.Groups[group]:
		return &Problem{Label: label, Reason: GroupMissing, Message: "The label " + label +
			" names a group that no RecurringJob has: add it to the groups of one, or remove the label."}
	}
	return nil
}

func quoted(value string) string { return `"` + value + `"` }
