package crds_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"drover.dev/drover/shared/setting/documented"
)

func setting(namespace, name, value string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"value": value}}
	object.SetAPIVersion("longhorn.io/v1beta2")
	object.SetKind("Setting")
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

func TestSettingsAreTakenOrRefusedByTheirName(t *testing.T) {
	tests := []struct {
		name           string
		taken, refused []string
		shows          string
	}{
		{"orphan-resource-auto-deletion",
			[]string{"", " ", "instance", "replica-data", "replica-data;instance", " replica-data ; instance ", "instance;instance"},
			[]string{"instances", "all", "instance;", ";instance", "instance;;replica-data", "instance,replica-data", "Instance",
				"replica-data; ;instance", ";", "instance\n", strings.Repeat("x", 100)},
			"list of replica-data and instance, separated by semicolons"},
		{"orphan-resource-auto-deletion", nil, []string{strings.Repeat("instance;", 30) + "instance", strings.Repeat(" ", 300)},
			"is too long"},
		{"orphan-resource-auto-deletion-grace-period", []string{"0", "300", "86400"},
			[]string{"", "-1", "5m", "1.5", "300 ", "99999999999"}, "whole number of seconds from 0 to 3153600000, without unit"},
		{"orphan-auto-deletion", []string{"true", "false"}, []string{"", "yes", "True"}, "true or false"},
		{"snapshot-max-count", []string{"2", "99", "250", `{"v1":"250","v2":"20"}`}, []string{"0", "1", "251", "-5", `{"v1":"251"}`},
			"from 2 to 250"},
		{"snapshot-heavy-task-concurrent-limit", []string{"0", "5"}, []string{"-1", "five"}, "(0 is no limit)"},
		{"snapshot-count-warning-threshold", []string{"0", "100", `{"v1":"100"}`}, []string{"", "-1", "many"},
			"whole number of snapshots, 0 or more"},
		{"default-replica-count", []string{"3", "20", `{"v1":"3","v2":"3"}`, `{ "v2" : "1" }`},
			[]string{"0", "21", `{"v3":"3"}`, `{"v1":3}`, "{}"}, "from 1 to 20"},
		{"storage-minimal-available-percentage", []string{"0", "25", "100"}, []string{"101", "25%"}, "from 0 to 100"},
		{"storage-reserved-percentage-for-default-disk", []string{"0", "30", "100"}, []string{"101", "-1", ""}, "from 0 to 100"},
		{"create-default-disk-labeled-nodes", []string{"true", "false"}, []string{"", "yes"}, "true or false"},
		{"storage-over-provisioning-percentage", []string{"0", "100", "500"}, []string{"-1"}, "whole number of per cent from 0"},
		{"engine-replica-timeout", []string{"8", "30", `{"v1":"8","v2":"8"}`}, []string{"7", "31"}, "from 8 to 30"},
		{"replica-rebuild-concurrent-sync-limit", []string{"1", "5"}, []string{"0", ""}, "whole number of files from 1 to 5"},
		{"backup-concurrent-limit", []string{"1", "16", `{"v1":"2","v2":"4"}`}, []string{"0", "", "-1", "1001"},
			"whole number of blocks from 1 to 1000"},
		{"backup-execution-timeout", []string{"1", "1000"}, []string{"0", "1001", "1m"}, "whole number of minutes from 1 to 1000"},
		{"failed-backup-ttl", []string{"0", "1440", "999999"}, []string{"-1", "1000000", ""}, "whole number of minutes from 0 to 999999"},
		{"restore-concurrent-limit", []string{"1", "16"}, []string{"0", "two"}, "whole number of blocks from 1 to 1000"},
		{"auto-cleanup-system-generated-snapshot", []string{"true", `{"v1":"true","v2":"false"}`}, []string{`{"v1":"maybe"}`},
			"true or false"},
		{"allow-recurring-job-while-volume-detached", []string{"true", "false"}, []string{"", "yes"}, "true or false"},
		{"node-down-pod-deletion-policy", []string{"do-nothing", "delete-both-statefulset-and-deployment-pod"}, []string{"", "delete"},
			"is do-nothing, delete-statefulset-pod"},
		{"data-engine-hugepage-enabled", []string{"true", `{"v2":"false"}`}, []string{"", "yes", `{"v2":"no"}`}, "true or false"},
		{"data-engine-log-level", []string{"Notice", `{"v2":"Debug"}`}, []string{"", "notice", `{"v2":"Trace"}`}, "data-engine-log-level is Error"},
		{"log-level", []string{"Info", "Trace"}, []string{"", "info", `{"v1":"Info"}`}, "log-level is Panic"},
		{"system-managed-pods-image-pull-policy", []string{"always", "never"}, []string{"", "Always"}, "is always, if-not-present"},
		{"instance-manager-pod-liveness-probe-timeout", []string{"1", "60"}, []string{"0", "61", "10s"}, "from 1 to 60"},
		{"engine-image-pod-liveness-probe-period", []string{"1", "60"}, []string{"", "0", "61", "5s", `{"v1":"5"}`}, "from 1 to 60"},
		{"priority-class", []string{"", "longhorn-critical"}, []string{strings.Repeat("x", 16385)}, "Too long"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWriter(t)
			for _, value := range test.taken {
				object := setting(w.namespace, test.name, value)
				require.NoError(t, w.client.Create(t.Context(), object), "%q", value)
				require.NoError(t, w.client.Delete(t.Context(), object))
			}
			for _, value := range test.refused {
				requireRefused(t, w.client.Create(t.Context(), setting(w.namespace, test.name, value)), test.shows)
			}
		})
	}
}

// What a controller would not read is refused, where the values can be listed: by the limits and values that the page of settings has.
func TestEachSettingIsRefusedOutsideOfItsDocumentedValues(t *testing.T) {
	w := newWriter(t)
	for name, documented := range documented.Settings() {
		t.Run(name, func(t *testing.T) {
			w := writer{t: t, client: w.client, namespace: w.namespace}
			taken, refused := documented.Accepted(), documented.Refused()
			for _, one := range documented.Choices() {
				taken, refused = append(taken, one), append(refused, one+"x")
			}
			for _, value := range slices.Compact(slices.Sorted(slices.Values(taken))) {
				if value == "" {
					continue // whether that is the default differs
				}
				object := setting(w.namespace, name, value)
				require.NoError(t, w.client.Create(t.Context(), object), "%q", value)
				require.NoError(t, w.client.Delete(t.Context(), object))
				refused = append(refused, value+" of them")
			}
			if len(documented.Choices()) == 0 && documented.High == 0 {
				return // a name, an image, labels: no list of values
			}
			for _, value := range refused {
				err := w.client.Create(t.Context(), setting(w.namespace, name, value))
				requireRefused(t, err, "is ")
				if documented.High > 0 {
					require.ErrorContains(t, err, fmt.Sprintf("from %d to %d", documented.Low, documented.High), "%q", value)
				}
				for _, one := range documented.Choices() {
					require.ErrorContains(t, err, one, "%q", value)
				}
			}
		})
	}
}

// A person who changes a setting sees at once why the value is refused, and the old one stays.
func TestABadValueDoesNotReplaceAGoodOne(t *testing.T) {
	w := newWriter(t)
	object := setting(w.namespace, "orphan-resource-auto-deletion", "instance")
	require.NoError(t, w.client.Create(t.Context(), object))
	requireRefused(t, w.merge(object, "value: instance;"), "without an empty or trailing item")
	require.NoError(t, w.merge(object, `value: ""`))
	require.NoError(t, w.mergeStatus(object, "status: {applied: true}"))
}
