package setting

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// parseTolerations reads `key=value:Effect; key:Effect; :Effect; :` (semicolons between items). Without a value every value is
// tolerated, without an effect every effect, without a key every taint. As Longhorn does, it refuses an item without a colon.
func parseTolerations(raw string) ([]corev1.Toleration, error) {
	var out []corev1.Toleration
	for _, item := range items(raw) {
		toleration, err := parseToleration(item)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, toleration) {
			out = append(out, toleration)
		}
	}
	return out, nil
}

func parseToleration(item string) (corev1.Toleration, error) {
	none := corev1.Toleration{}
	rest, effect, hasEffect := strings.Cut(item, ":")
	key, value, hasValue := strings.Cut(rest, "=")
	if !hasEffect {
		return none, fmt.Errorf("the value has item %q without a colon: give key=value:Effect, or %q for every effect", item, item+":")
	}
	if problems := validation.IsQualifiedName(key); len(problems) > 0 && (key != "" || hasValue) {
		return none, fmt.Errorf("the value has item %q, whose key is not a taint key: give key=value:Effect", item)
	}
	if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
		return none, fmt.Errorf("the value has item %q, whose value is not a taint value: give key=value:Effect", item)
	}
	toleration := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(effect)}
	if hasValue {
		toleration.Operator, toleration.Value = corev1.TolerationOpEqual, value
	}
	switch toleration.Effect {
	case "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		return toleration, nil
	}
	return none, fmt.Errorf("the value has item %q, whose effect is none of NoSchedule, PreferNoSchedule and NoExecute", item)
}

// parseSelector reads `label:value; label:value`.
func parseSelector(raw string) (map[string]string, error) {
	var out map[string]string
	for _, item := range items(raw) {
		key, value, found := strings.Cut(item, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !found || len(validation.IsQualifiedName(key)) > 0 || len(validation.IsValidLabelValue(value)) > 0 {
			return nil, fmt.Errorf("the value has item %q: give label:value", item)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[key] = value
	}
	return out, nil
}

func items(raw string) []string {
	var out []string
	for item := range strings.SplitSeq(raw, ";") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}
