package crds_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

func TestFieldSelectorsFindByNodeVolumeTypeAndDataEngine(t *testing.T) {
	w := newWriter(t)
	for _, manifest := range []string{
		instanceOrphan, dataOrphan, snapshot, volumeAttachment, nodeUpgrade, upgradeManager, volume,
		"{kind: Engine, metadata: {name: vol-1-e-0}, spec: {volumeName: vol-1, nodeID: node-1, dataEngine: v2}}",
		"{kind: EngineFrontend, metadata: {name: vol-1-ef-0}, spec: {volumeName: vol-1, nodeID: node-1, engineName: vol-1-e-0}}",
		"{kind: Replica, metadata: {name: vol-1-r-1}, spec: {volumeName: vol-1, nodeID: node-1, diskID: disk-1}}",
		"{kind: Replica, metadata: {name: vol-1-r-2}, spec: {volumeName: vol-1, nodeID: node-2, diskID: disk-2}}",
		"{kind: InstanceManager, metadata: {name: im-1}, spec: {nodeID: node-1, dataEngine: v2, type: aio}}",
		"{kind: RecurringJob, metadata: {name: nightly}, spec: {task: snapshot}}",
	} {
		_, err := w.create(manifest)
		require.NoError(t, err)
	}
	tests := []struct {
		list   client.ObjectList
		fields client.MatchingFields
		names  []string
	}{
		{&v1beta2.OrphanList{}, client.MatchingFields{"spec.nodeID": "node-1"}, []string{"orphan-0123", "orphan-4567"}},
		{&v1beta2.OrphanList{}, client.MatchingFields{"spec.orphanType": "replica"}, []string{"orphan-4567"}},
		{&v1beta2.OrphanList{}, client.MatchingFields{"spec.nodeID": "node-1", "spec.dataEngine": "v2"}, []string{"orphan-0123"}},
		{&v1beta2.ReplicaList{}, client.MatchingFields{"spec.nodeID": "node-2"}, []string{"vol-1-r-2"}},
		{&v1beta2.ReplicaList{}, client.MatchingFields{"spec.volumeName": "vol-1"}, []string{"vol-1-r-1", "vol-1-r-2"}},
		{&v1beta2.ReplicaList{}, client.MatchingFields{"spec.diskID": "disk-1"}, []string{"vol-1-r-1"}},
		{&v1beta2.EngineList{}, client.MatchingFields{"spec.volumeName": "vol-1", "spec.dataEngine": "v2"}, []string{"vol-1-e-0"}},
		{&v1beta2.EngineFrontendList{}, client.MatchingFields{"spec.engineName": "vol-1-e-0"}, []string{"vol-1-ef-0"}},
		{&v1beta2.InstanceManagerList{}, client.MatchingFields{"spec.nodeID": "node-1", "spec.type": "aio"}, []string{"im-1"}},
		{&v1beta2.SnapshotList{}, client.MatchingFields{"spec.volume": "vol-1"}, []string{"before-the-upgrade"}},
		{&v1beta2.SnapshotList{}, client.MatchingFields{"spec.volume": "vol-2"}, nil},
		{&v1beta2.VolumeAttachmentList{}, client.MatchingFields{"spec.volume": "vol-1"}, []string{"vol-1"}},
		{&v1beta2.VolumeList{}, client.MatchingFields{"spec.dataEngine": "v2"}, []string{"vol-1"}},
		{&v1beta2.RecurringJobList{}, client.MatchingFields{"spec.task": "snapshot"}, []string{"nightly"}},
		{&v1beta2.NodeDataEngineUpgradeList{}, client.MatchingFields{"spec.nodeID": "node-1"}, []string{"upgrade-node-1"}},
		{&v1beta2.DataEngineUpgradeManagerList{}, client.MatchingFields{"spec.dataEngine": "v2"}, []string{"upgrade"}},
	}
	for _, test := range tests {
		require.NoError(t, w.client.List(t.Context(), test.list, client.InNamespace(w.namespace), test.fields), "%v", test.fields)
		var names []string
		require.NoError(t, meta.EachListItem(test.list, func(item runtime.Object) error {
			names = append(names, item.(client.Object).GetName())
			return nil
		}))
		require.ElementsMatch(t, test.names, names, "%T %v", test.list, test.fields)
	}
}

// What kubectl prints: what it is, where, how it is, why, and since when; with -o wide the sentences.
func TestColumnsTellWhyAnOrphanIsOneAndWhatWasDecided(t *testing.T) {
	w := newWriter(t)
	orphan, err := w.create(instanceOrphan)
	require.NoError(t, err)
	require.NoError(t, w.mergeStatus(orphan, `
status:
  conditions:
  - {type: InstanceState, status: "True", reason: running, message: It runs.}
  - {type: Orphaned, status: "True", reason: NoOwnerCR, message: No Replica vol-1-r-aabbccdd exists.}
  - {type: CleanupApproved, status: "False", reason: GracePeriod, message: Auto deletion waits until noon.}
  - {type: CleanupFailed, status: "True", reason: Unreachable, message: Node node-1 does not answer.}
`))
	table := tableOf(t, w.namespace, "orphans")
	cells := map[string]any{}
	for i, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			cells[column.Name] = table.Rows[0].Cells[i]
		}
		if column.Name == "Evaluation" {
			require.Equal(t, "No Replica vol-1-r-aabbccdd exists.", table.Rows[0].Cells[i])
		}
		if column.Name == "Failure" {
			require.Equal(t, "Node node-1 does not answer.", table.Rows[0].Cells[i])
		}
		if column.Name == "Message" {
			require.Equal(t, "Auto deletion waits until noon.", table.Rows[0].Cells[i])
		}
	}
	require.Contains(t, cells, "Age")
	delete(cells, "Age")
	require.Equal(t, map[string]any{
		"Name": "orphan-0123", "Type": "replica-instance", "Data Engine": "v2", "Instance": "vol-1-r-aabbccdd",
		"Node": "node-1", "State": "running", "Why": "NoOwnerCR", "Decision": "GracePeriod", "Failed": "Unreachable",
	}, cells)
}

// tableOf asks for the list as kubectl does.
func tableOf(t *testing.T, namespace, resource string) metav1.Table {
	t.Helper()
	config := rest.CopyConfig(testkit.Cluster().AdminConfig())
	config.AcceptContentTypes = "application/json;as=Table;v=v1;g=meta.k8s.io"
	config.APIPath, config.GroupVersion = "/apis", &v1beta2.GroupVersion
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c, err := rest.RESTClientFor(config)
	require.NoError(t, err)
	raw, err := c.Get().Namespace(namespace).Resource(resource).DoRaw(t.Context())
	require.NoError(t, err)
	table := metav1.Table{}
	require.NoError(t, json.Unmarshal(raw, &table))
	require.NotEmpty(t, table.Rows)
	return table
}
