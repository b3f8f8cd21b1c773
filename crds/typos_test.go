package crds_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/testkit"
)

// warnings are what the API server warned of.
type warnings struct {
	mutex sync.Mutex
	shown []string
}

func (w *warnings) HandleWarningHeader(code int, _, text string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if code == 299 { // a warning of the API server
		w.shown = append(w.shown, text)
	}
}

// take returns what was reported since it was called last.
func (w *warnings) take() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	shown := strings.Join(w.shown, "\n")
	w.shown = nil
	return shown
}

// typosWriter writes where the policy is in force, and hears its warnings.
func typosWriter(t *testing.T) (writer, *warnings) {
	t.Helper()
	heard := &warnings{}
	config := rest.CopyConfig(testkit.Cluster().AdminConfig())
	config.WarningHandler = heard
	w := writer{t: t, client: testkit.Client(t, config), namespace: testkit.Namespace(t)}
	w.install("policies/unknown-fields.yaml")
	require.Eventually(t, func() bool {
		probe := parse(t, w.namespace, "{kind: Volume, metadata: {name: probe}, spec: {probe: 1}}")
		require.NoError(t, w.client.Create(t.Context(), probe, client.DryRunAll))
		return heard.take() != ""
	}, waitTimeout, waitPoll, "the policy is in force")
	return w, heard
}

func TestAFieldThatNoKnownVersionHasIsWarnedOf(t *testing.T) {
	w, heard := typosWriter(t)
	object, err := w.create(`{kind: Volume, metadata: {name: vol-1}, spec: {size: "1073741824", numberOfReplica: 3}}`)
	require.NoError(t, err)
	require.Contains(t, heard.take(), "spec.numberOfReplica is a field that no known version of Volume has: it has no effect; kubectl "+
		"explain volumes.longhorn.io.spec")
	require.NoError(t, w.merge(object, "spec: {numberOfReplicas: 2}"))
	require.Empty(t, heard.take(), "what was there before was reported before")
	require.NoError(t, w.mergeStatus(object, "status: {fromANewerVersion: x}"))
	require.Empty(t, heard.take(), "a status is written by programs")
	require.NoError(t, w.client.Delete(t.Context(), object))
}

func TestWhatHasNoEffectInAPartOfAnObjectIsWarnedOf(t *testing.T) {
	w, heard := typosWriter(t)
	for _, test := range []struct{ kind, metadata, spec, shows string }{
		{"Node", "", "disks: {fast: {path: /disk, allowSheduling: true}}", "in spec.disks there is a field that no known version of Node has"},
		{"Volume", "", "dataLayout: {type: sharded, dataChunk: 4}", "in spec.dataLayout there is a field that no known version of Volume has"},
		{"Volume", "", "topologyRequirement: [{zone: a}, {rack: b}]", "in spec.topologyRequirement there is a field"},
		{"VolumeAttachment", "", ofTicket("nodeId: node-1"), "in spec.attachmentTickets there is a field"},
		{"VolumeAttachment", "", ofTicket(`parameters: {disableFronted: "true"}`), "known are disableFrontend, lastAttachedBy, ownerKind"},
		{"BackingImage", "", "diskFileSpecMap: {a: {dataEngin: v1}}", "in spec.diskFileSpecMap there is a field"},
		{"InstanceManager", "", `dataEngineSpec: {v2: {cpuMasc: "0x1"}}`, "in spec.dataEngineSpec.v2 there is a field"},
		{"InstanceManager", "", `dataEngineSpec: {v3: {cpuMask: "0x1"}}`, "in spec.dataEngineSpec there is a field"},
		{"RecurringJob", "", `parameters: {full-backup-intervall: "3"}`, "spec.parameters has a parameter that no known version has"},
		{"RecurringJob", "", "retainAge: 72h", "spec.retainAge has no effect unless spec.retentionPolicy is age-based"},
		{"RecurringJob", "", "retainAge: 72h, retentionPolicy: count-based, retain: 3", "spec.retainAge has no effect"},
		{"Volume", ", labels: {recurring-job.longhorn.io/daily: enable}", "", "counts only with the value enabled"},
		{"Volume", `, labels: {recurring-job-group.longhorn.io/mine: "true"}`, "", "counts only with the value enabled"},
	} {
		t.Run(test.kind+test.metadata+" "+test.spec, func(t *testing.T) {
			manifest := strings.Replace(badValue{kind: test.kind, spec: test.spec}.manifest("one"), "name: one",
				"name: one"+test.metadata, 1)
			w := writer{t: t, client: w.client, namespace: w.namespace}
			object, err := w.create(manifest)
			require.NoError(t, err)
			require.Contains(t, heard.take(), test.shows)
			require.NoError(t, w.merge(object, "metadata: {labels: {mine: x}}"))
			require.Empty(t, heard.take(), "what was there before was reported before")
			require.NoError(t, w.client.Delete(t.Context(), object))
		})
	}
	for _, manifest := range []string{node, volume, volumeAttachment,
		`{kind: RecurringJob, metadata: {name: a}, spec: {retainAge: 0s, retain: 3, parameters: {full-backup-interval: "3"}}}`,
		"{kind: RecurringJob, metadata: {name: b}, spec: {retainAge: 72h, retentionPolicy: age-based}}",
		"{kind: Volume, metadata: {name: labelled, labels: {recurring-job.longhorn.io/daily: enabled}}, spec: {dataLayout: {mode: raid1}}}",
	} {
		_, err := w.create(manifest)
		require.NoError(t, err)
		require.Empty(t, heard.take(), manifest)
	}
}

// Kinds of Drover alone drop what they do not know; there the API server itself warns of it.
func TestTheAPIServerWarnsOfTyposInTheKindsOfAnUpgrade(t *testing.T) {
	heard := &warnings{}
	config := rest.CopyConfig(testkit.Cluster().AdminConfig())
	config.WarningHandler = heard
	w := writer{t: t, client: client.WithFieldValidation(testkit.Client(t, config), "Warn"), namespace: testkit.Namespace(t)}
	_, err := w.create(strings.Replace(upgradeManager, "onFailure", "onFailur", 1))
	require.NoError(t, err)
	require.Contains(t, heard.take(), `unknown field "spec.onFailur"`)
}
