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

func TestAFieldThatNoKnownVersionHasIsWarnedOf(t *testing.T) {
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

	object, err := w.create(`{kind: Volume, metadata: {name: vol-1}, spec: {size: "1073741824", numberOfReplica: 3}}`)
	require.NoError(t, err)
	require.Contains(t, heard.take(), "spec.numberOfReplica is a field that no known version of Volume has: it has no effect; kubectl "+
		"explain volumes.longhorn.io.spec")
	require.NoError(t, w.merge(object, "spec: {numberOfReplicas: 2}"))
	require.Empty(t, heard.take(), "what was there before was reported before")
	require.NoError(t, w.mergeStatus(object, "status: {fromANewerVersion: x}"))
	require.Empty(t, heard.take(), "a status is written by programs")
	require.NoError(t, w.client.Delete(t.Context(), object))

	disks, err := w.create("{kind: Node, metadata: {name: node-1}, spec: {disks: {fast: {path: /disk, allowSheduling: true}}}}")
	require.NoError(t, err)
	require.Contains(t, heard.take(), "in spec.disks there is a field that no known version of Node has")
	require.NoError(t, w.client.Delete(t.Context(), disks))
}
