package gateway

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// The CSI node plugin, call by call: it finds the schemas, stages and publishes a volume that is attached, measures and unpublishes it. An
// answer of another kind than it decodes ends the call, so that each field is compared with its kind.
func TestTheNodePluginStagesAndPublishesAnAttachedVolume(t *testing.T) {
	e := newEnv(t)
	e.attachedVolume("staged", "node-1")
	e.user("staged", "db-0", corev1.PodPending)

	// It opens REST at its start, follows the header to the schemas, and keeps their addresses.
	_, _, header := e.send(http.MethodGet, "/v1", nil)
	require.Equal(t, e.base+"/v1/schemas", header.Get("X-API-Schemas"))
	schemas := e.call(http.MethodGet, "/v1/schemas", nil)
	for _, name := range []string{"volume", "node", "setting", "backupVolume", "backupTarget", "backingImage"} {
		schema := itemOf(t, schemas, name)
		require.Contains(t, schema["collectionMethods"], "GET", name)
		require.Contains(t, schema["resourceMethods"], "GET", name)
		require.Equal(t, e.base+"/v1/"+strings.ToLower(name)+"s", at(schema, "links", "collection"))
	}

	// NodeStageVolume
	v := e.eventually("/v1/volumes/staged", "the pod that waits", func(v map[string]any) bool {
		return at(v, "kubernetesStatus", "workloadsStatus") != nil && len(v["controllers"].([]any)) == 1
	})
	require.Equal(t, "attached", v["state"])
	require.Equal(t, true, v["ready"], "%v", v["notReadyMessage"])
	require.Equal(t, "", v["notReadyMessage"])
	require.Equal(t, "blockdev", v["frontend"])
	require.Equal(t, false, v["disableFrontend"])
	require.Equal(t, false, v["encrypted"])
	require.Equal(t, "rwo", v["accessMode"])
	require.Equal(t, "1073741824", v["size"], "a decimal string")
	controller := v["controllers"].([]any)[0].(map[string]any)
	require.Equal(t, "/dev/longhorn/staged", controller["endpoint"])
	require.Equal(t, "node-1", controller["hostId"])
	require.Equal(t, "1073741824", controller["size"])
	require.Equal(t, "12288", controller["actualSize"])

	// NodePublishVolume
	setting := e.call(http.MethodGet, "/v1/settings/storage-network", nil)
	require.Equal(t, "", setting["value"])
	require.Equal(t, true, setting["applied"])
	workload := at(v, "kubernetesStatus", "workloadsStatus").([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{"podName": "db-0", "podStatus": "Pending", "workloadName": "db", "workloadType": "StatefulSet"}, workload)
	require.Equal(t, e.namespace, at(v, "kubernetesStatus", "namespace"))
	require.Equal(t, "claim-staged", at(v, "kubernetesStatus", "pvcName"))
	require.Equal(t, "Bound", at(v, "kubernetesStatus", "pvStatus"))

	// NodeUnpublishVolume and NodeGetVolumeStats of a volume that is gone: 404 is no error for the plugin, and its body is not decoded.
	require.Contains(t, e.refused(http.StatusNotFound, http.MethodGet, "/v1/volumes/gone", nil), `no volume "gone"`)
}

// A pod that waits makes the plugin publish, a pod that runs makes it go on: the page follows.
func TestAVolumeFollowsItsObjects(t *testing.T) {
	e := newEnv(t)
	v := e.attachedVolume("followed", "node-1")
	e.eventually("/v1/volumes/followed", "its replica", func(v map[string]any) bool { return len(v["replicas"].([]any)) == 1 })
	e.user("followed", "db-0", corev1.PodRunning)
	e.eventually("/v1/volumes/followed", "a pod that runs", func(v map[string]any) bool {
		list, _ := at(v, "kubernetesStatus", "workloadsStatus").([]any)
		return len(list) == 1 && at(list[0].(map[string]any), "podStatus") == "Running"
	})
	e.status(v, map[string]any{"robustness": "faulted"})
	faulted := e.eventually("/v1/volumes/followed", "not ready", func(v map[string]any) bool { return v["ready"] == false })
	require.Contains(t, faulted["notReadyMessage"], "followed is faulted")
	list := e.call(http.MethodGet, "/v1/volumes?field=name", nil)
	require.Equal(t, "volume", list["resourceType"])
	one := e.call(http.MethodGet, "/v1/volumes/followed", nil)
	require.Equal(t, one, list["data"].([]any)[0], "the list has the same resource")
	require.NoError(t, e.admin.Delete(t.Context(), v))
	e.eventually("/v1/volumes", "an empty list", func(l map[string]any) bool { return len(l["data"].([]any)) == 0 })
}

// The CSI plugin dereferences nothing when it gets 404 for these, and ends.
func TestNothingThatEndsThePluginIsNotFound(t *testing.T) {
	e := newEnv(t)
	for _, path := range []string{"/v1/settings/storage-network", "/v1/settings/endpoint-network-for-rwx-volume", "/v1/backupvolumes/vol-1"} {
		answer := e.call(http.MethodGet, path, nil)
		require.NotNil(t, answer["actions"], path)
	}
	require.NotNil(t, at(e.call(http.MethodGet, "/v1/backupvolumes/vol-1", nil), "actions", "backupListByVolume"))
	e.refused(http.StatusNotFound, http.MethodGet, "/v1/settings/unknown", nil)
	e.refused(http.StatusNotFound, http.MethodGet, "/v1/nodes/unknown", nil)
}

func TestAllSettingsAreListedWithTheirDefinition(t *testing.T) {
	e := newEnv(t)
	e.create(&v1beta2.Setting{ObjectMeta: e.meta("default-replica-count"), Value: "2"})
	e.create(&v1beta2.Setting{ObjectMeta: e.meta("unknown-to-everybody"), Value: "2"})
	list := e.eventually("/v1/settings", "the stored value", func(l map[string]any) bool {
		return itemOf(t, l, "default-replica-count")["value"] == `{"v1":"2","v2":"2"}`
	})
	require.Len(t, list["data"], 118)
	for _, item := range list["data"].([]any) {
		require.NotEqual(t, "unknown-to-everybody", at(item.(map[string]any), "name"))
	}
	locality := itemOf(t, list, "default-data-locality")
	require.Equal(t, []any{"disabled", "best-effort", "strict-local"}, at(locality, "definition", "options"))
	require.Equal(t, "disabled", locality["value"])
}

func TestANodeHasItsDisksTagsAndConditions(t *testing.T) {
	e := newEnv(t)
	n := &v1beta2.Node{ObjectMeta: e.meta("node-1"), Spec: v1beta2.NodeSpec{AllowScheduling: true, Tags: []string{"fast"},
		Disks: map[string]v1beta2.DiskSpec{"d1": {Path: "/data", AllowScheduling: true, StorageReserved: 5}}}}
	e.create(n)
	e.status(n, map[string]any{"zone": "z1", "diskStatus": map[string]any{"d1": map[string]any{"diskUUID": "u", "storageMaximum": 100}},
		"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "NodeReady", "message": "", "lastProbeTime": "",
			"lastTransitionTime": ""}}})
	node := e.eventually("/v1/nodes/node-1", "its status", func(n map[string]any) bool { return n["zone"] == "z1" })
	require.Equal(t, "True", at(node, "conditions", "Ready", "status"))
	disk := at(node, "disks", "d1").(map[string]any)
	require.Equal(t, float64(100), disk["storageMaximum"], "a number")
	require.Equal(t, float64(5), disk["storageReserved"])
	require.Equal(t, map[string]any{}, disk["scheduledReplica"], "an empty object, not null")
	require.Equal(t, "filesystem", disk["diskType"])
	require.NotNil(t, at(node, "actions", "diskUpdate"))
	require.Len(t, e.call(http.MethodGet, "/v1/nodes", nil)["data"], 1)
}

// itemOf returns the item of a collection with an id.
func itemOf(t *testing.T, list map[string]any, id string) map[string]any {
	t.Helper()
	for _, item := range list["data"].([]any) {
		if one := item.(map[string]any); one["id"] == id {
			return one
		}
	}
	text, _ := json.Marshal(list)
	require.Fail(t, "no such item", "%s in %.300s", id, text)
	return nil
}

// at returns the value below some keys; nil: there is none.
func at(of map[string]any, keys ...string) any {
	var value any = of
	for _, key := range keys {
		inner, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = inner[key]
	}
	return value
}
