package recurring

import (
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// Sources are, by volume, the labels of the PersistentVolumeClaims that name jobs in the volume's place.
type Sources map[string]map[string]string

// Labels are those that name the volume's jobs: its claim's, where that is their source, though it may name none, and else its own.
func (s Sources) Labels(v *v1beta2.Volume) map[string]string {
	if labels, ok := s[v.Name]; ok {
		return labels
	}
	return v.Labels
}

// LabelsOfClaim are those labels of a PersistentVolumeClaim that name jobs and groups.
func LabelsOfClaim(labels map[string]string) map[string]string {
	var out map[string]string
	for label, value := range labels {
		names := strings.HasPrefix(label, v1beta2.LabelRecurringJobPrefix) || strings.HasPrefix(label, v1beta2.LabelRecurringGroupPrefix)
		if !names || label == v1beta2.LabelRecurringSource || value != v1beta2.RecurringEnabled {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[label] = value
	}
	return out
}
