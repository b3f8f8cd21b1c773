package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

// Each page gets its lists; one without items is an empty list with its type, since pages call functions of it.
func TestEveryListThatAPageAsksForIsAnswered(t *testing.T) {
	e := newEnv(t)
	for path, resourceType := range map[string]string{"volumes": "volume", "nodes": "node", "events": "event",
		"volumeattachments": "volumeAttachment",
		"settings":          "setting", "backuptargets": "backupTarget", "backingimages": "backingImage", "engineimages": "engineImage",
		"recurringjobs": "recurringJob", "backupvolumes": "backupVolume", "instancemanagers": "instanceManager", "orphans": "orphan",
		"backupbackingimages": "backupBackingImage", "systembackups": "systemBackup", "systemrestores": "systemRestore", "disktags": "tag",
		"nodetags": "tag", "supportbundles": "supportBundle", "shards": "shard", "shardgroups": "shardGroup"} {
		list := e.call(http.MethodGet, "/v1/"+path, nil)
		require.Equal(t, "collection", list["type"], path)
		require.Equal(t, resourceType, list["resourceType"], path)
		require.IsType(t, []any{}, list["data"], path)
	}
	e.refused(http.StatusNotFound, http.MethodGet, "/v1/backingimages/one", nil)
	require.Contains(t, e.refused(http.StatusNotImplemented, http.MethodPost, "/v1/supportbundles", map[string]any{}), "supportBundle")
	e.refused(http.StatusNotImplemented, http.MethodPut, "/v1/backuptargets", map[string]any{})
}

func TestThePageOfSettingsStoresValuesAndShowsWhyOneIsRefused(t *testing.T) {
	e := newEnv(t)
	s := e.call(http.MethodPut, "/v1/settings/orphan-resource-auto-deletion", map[string]any{"value": " instance;replica-data "})
	require.Equal(t, "instance;replica-data", s["value"])
	s["value"] = "4" // the page sends the whole object back
	s = e.call(http.MethodPut, "/v1/settings/default-replica-count", s)
	require.Equal(t, `{"v1":"4","v2":"4"}`, s["value"])
	stored := &v1beta2.Setting{}
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKey{Namespace: e.namespace, Name: "default-replica-count"}, stored))
	require.Equal(t, `{"v1":"4","v2":"4"}`, stored.Value)
	e.call(http.MethodPut, "/v1/settings/default-replica-count", map[string]any{"value": `{"v2": 2, "v1": "3"}`})
	require.Equal(t, `{"v1":"3","v2":"2"}`, e.call(http.MethodGet, "/v1/settings/default-replica-count", nil)["value"])
	for name, value := range map[string]string{"default-replica-count": "21", "auto-salvage": "maybe", "default-data-locality": "near",
		"backup-concurrent-limit": "0", "guaranteed-instance-manager-cpu": "41", "replica-replenishment-wait-interval": ""} {
		require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPut, "/v1/settings/"+name, map[string]any{"value": value}),
			name+" with invalid value "+value)
	}
	e.refused(http.StatusNotFound, http.MethodPut, "/v1/settings/unknown", map[string]any{"value": "1"})
}

func TestThePageOfNodesReplacesWhatItSends(t *testing.T) {
	e := newEnv(t)
	node := e.readyNode("node-1")
	node.Spec.AllowScheduling = true
	node.Spec.Disks = map[string]v1beta2.DiskSpec{"old": {Path: "/old"}, "kept": {Path: "/kept", AllowScheduling: true, Tags: []string{"a"}}}
	require.NoError(t, e.admin.Update(t.Context(), node))
	read := e.eventually("/v1/nodes/node-1", "its disks", func(n map[string]any) bool { return len(n["disks"].(map[string]any)) == 2 })
	require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPut, "/v1/nodes/node-1",
		map[string]any{"allowScheduling": true, "evictionRequested": true}), "switch scheduling off")
	read["tags"], read["allowScheduling"] = []string{"fast"}, false
	n := e.call(http.MethodPut, "/v1/nodes/node-1", read)
	require.Equal(t, []any{"fast"}, n["tags"])
	require.Equal(t, false, n["allowScheduling"])

	disks := map[string]any{"kept": at(read, "disks", "kept"),
		"new": map[string]any{"path": "/new", "diskType": "filesystem", "tags": []string{}}}
	n = e.call(http.MethodPost, "/v1/nodes/node-1?action=diskUpdate", map[string]any{"disks": disks})
	require.NotContains(t, n["disks"], "old")
	require.Contains(t, n["disks"], "new")
	for sentence, wrong := range map[string]map[string]any{
		"have one path":         {"kept": disks["kept"], "new": map[string]any{"path": "/kept"}},
		"is filesystem for":     {"kept": map[string]any{"path": "/kept", "diskType": "block"}, "new": disks["new"]},
		"is not removed while":  {"new": disks["new"]},
		"switch scheduling off": {"kept": map[string]any{"path": "/kept", "allowScheduling": true, "evictionRequested": true}},
	} {
		require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPost, "/v1/nodes/node-1?action=diskUpdate",
			map[string]any{"disks": wrong}), sentence)
	}
}

// An orphan is seen, selected and deleted in a browser.
func TestThePageOfOrphansListsAndDeletesOne(t *testing.T) {
	e := newEnv(t)
	o := &v1beta2.Orphan{ObjectMeta: e.meta("orphan-1"), Spec: v1beta2.OrphanSpec{NodeID: "node-1", OrphanType: "engine-instance",
		DataEngine: "v1", Parameters: map[string]string{"InstanceName": "vol-1-e-0", "InstanceManager": "im-1", "InstanceUUID": "u"}}}
	e.create(o)
	list := e.eventually("/v1/orphans", "the orphan", func(l map[string]any) bool { return len(l["data"].([]any)) == 1 })
	one := list["data"].([]any)[0].(map[string]any)
	require.Equal(t, "engine-instance", one["orphanType"])
	require.Equal(t, "vol-1-e-0", at(one, "parameters", "InstanceName"))
	code, body, _ := e.send(http.MethodDelete, strings.TrimPrefix(at(one, "links", "self").(string), e.base), nil)
	require.Equal(t, http.StatusOK, code, "%s", body)
	testkit.WaitGone(t, e.admin, o)
	e.refused(http.StatusNotFound, http.MethodDelete, "/v1/orphans/orphan-1", nil)
}

// The page of jobs has no stream: it deletes what was selected one by one, and lists again.
func TestAListAfterADeletionShowsIt(t *testing.T) {
	e := newEnv(t)
	const jobs = 10
	for i := range jobs {
		e.call(http.MethodPost, "/v1/recurringjobs", map[string]any{"name": fmt.Sprint("job-", i), "task": "snapshot", "cron": "0 0 * * *"})
	}
	for i := range jobs {
		require.Len(t, e.call(http.MethodGet, "/v1/recurringjobs", nil)["data"], jobs-i)
		e.call(http.MethodDelete, fmt.Sprint("/v1/recurringjobs/job-", i), nil)
	}
}

func TestThePageOfAVolumeShowsItsSnapshotsAndChangesIt(t *testing.T) {
	e := newEnv(t)
	e.attachedVolume("vol-1", "node-1")
	e.eventually("/v1/volumes/vol-1", "its engine", func(v map[string]any) bool {
		return len(v["controllers"].([]any)) == 1 && at(v["controllers"].([]any)[0].(map[string]any), "running") == true
	})
	const path = "/v1/volumes/vol-1?action="
	list := e.call(http.MethodPost, path+"snapshotList", nil)
	head := itemOf(t, list, "volume-head")
	require.Equal(t, "s1", head["parent"])
	require.Equal(t, map[string]any{}, head["children"])
	snapshot := itemOf(t, list, "s1")
	require.Equal(t, "", snapshot["parent"], "not null")
	require.Equal(t, "8192", snapshot["size"], "a decimal string")
	require.Equal(t, true, snapshot["usercreated"])
	e.create(&v1beta2.Snapshot{ObjectMeta: e.meta("s1"), Spec: v1beta2.SnapshotSpec{Volume: "vol-1"}})
	require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPost, path+"snapshotRevert", map[string]any{"name": "s1"}),
		"attached without a block device")

	require.Equal(t, float64(3), e.call(http.MethodPost, path+"updateReplicaCount", map[string]any{"replicaCount": 3})["numberOfReplicas"])
	require.Equal(t, "best-effort",
		e.call(http.MethodPost, path+"updateDataLocality", map[string]any{"dataLocality": "best-effort"})["dataLocality"])
	require.Equal(t, "4294967296",
		e.call(http.MethodPost, path+"updateSnapshotMaxSize", map[string]any{"snapshotMaxSize": "4Gi"})["snapshotMaxSize"])
	require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPost, path+"updateReplicaAutoBalance",
		map[string]any{"replicaAutoBalance": "best-effort"}), "replicas stay where they are placed")
	require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPost, path+"updateAccessMode",
		map[string]any{"accessMode": "rwx"}), "only while the volume is detached")

	jobs := e.call(http.MethodPost, path+"recurringJobAdd", map[string]any{"name": "daily", "isGroup": false})
	require.NotNil(t, itemOf(t, jobs, "daily"))
	require.Len(t, e.call(http.MethodPost, path+"recurringJobDelete", map[string]any{"name": "daily"})["data"], 0)

	e.call(http.MethodPost, path+"replicaRemove", map[string]any{"name": "vol-1-r-1"})
	testkit.WaitGone(t, e.admin, &v1beta2.Replica{ObjectMeta: e.meta("vol-1-r-1")})
}

func TestRecurringJobsAndBackupTargetsAreManaged(t *testing.T) {
	e := newEnv(t)
	j := e.call(http.MethodPost, "/v1/recurringjobs", map[string]any{"name": "daily", "task": "snapshot", "cron": "0 0 * * *", "retain": 5})
	require.Equal(t, float64(1), j["concurrency"])
	j["retain"], j["task"] = 7, "backup"
	j = e.call(http.MethodPut, "/v1/recurringjobs/daily", j)
	require.Equal(t, float64(7), j["retain"])
	require.Equal(t, "snapshot", j["task"], "the task stays")
	target := e.call(http.MethodPost, "/v1/backuptargets",
		map[string]any{"name": "default", "backupTargetURL": "nfs://a:/b", "pollInterval": "300"})
	require.Equal(t, "5m0s", target["pollInterval"])
	target = e.call(http.MethodPost, "/v1/backuptargets/default?action=backupTargetUpdate",
		map[string]any{"name": "default", "backupTargetURL": "nfs://a:/c", "pollInterval": "60"})
	require.Equal(t, "nfs://a:/c", target["backupTargetURL"])
	for _, path := range []string{"/v1/recurringjobs/daily", "/v1/backuptargets/default"} {
		code, body, _ := e.send(http.MethodDelete, path, nil)
		require.Equal(t, http.StatusOK, code, "%s", body)
		e.eventuallyGone(path)
	}
}

// A page follows a change that kubectl makes: the whole list comes again, once for many changes within the period.
func TestAStreamSendsTheListNowAndAfterEachChange(t *testing.T) {
	e := newEnv(t)
	e.attachedVolume("streamed", "node-1")
	e.eventually("/v1/volumes", "the volume", func(l map[string]any) bool { return len(l["data"].([]any)) == 1 })
	stream := e.dial("/v1/ws/1s/volumes")
	first := e.next(stream)
	require.Equal(t, "volume", first["resourceType"])
	require.Len(t, first["data"], 1)
	require.NoError(t, stream.Write(t.Context(), websocket.MessageText, []byte("dropped")))
	e.status(&v1beta2.Volume{ObjectMeta: e.meta("streamed")}, map[string]any{"robustness": "degraded"})
	for {
		volumes := e.next(stream)["data"].([]any)
		if at(volumes[0].(map[string]any), "robustness") == "degraded" {
			break
		}
	}
	e.user("streamed", "db-0", corev1.PodRunning)
	for {
		volumes := e.next(stream)["data"].([]any)
		if at(volumes[0].(map[string]any), "kubernetesStatus", "pvcName") == "claim-streamed" {
			break
		}
	}
	require.Equal(t, "orphan", e.next(e.dial("/v1/ws/orphans"))["resourceType"], "an empty list has its type, too")
}

func TestStreamsAreLimitedAndRefusedToPagesOfOthers(t *testing.T) {
	e := newEnv(t, func(e *env) { e.options.Streams = 1 })
	_, response, err := websocket.Dial(t.Context(), e.base+"/v1/ws/volumes",
		&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://evil.example.com"}}})
	require.Error(t, err)
	require.Equal(t, http.StatusForbidden, response.StatusCode)
	open := e.dial("/v1/ws/1s/nodes")
	_, response, err = websocket.Dial(t.Context(), e.base+"/v1/ws/nodes", nil)
	require.Error(t, err)
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.NoError(t, open.Close(websocket.StatusNormalClosure, ""))
	require.Eventually(t, func() bool {
		again, _, err := websocket.Dial(t.Context(), e.base+"/v1/ws/nodes", nil)
		if err == nil {
			_ = again.CloseNow()
		}
		return err == nil
	}, testkit.Timeout, testkit.Poll)
}

// One change is encoded once, whoever asks: the list of many clients is one text in memory.
func TestAListIsBuiltOnceForEachChange(t *testing.T) {
	c, builds := newChanges(), 0
	lists := newListCache(c, map[string]list{"nodes": {[]topic{topicNodes}, func(request) (any, error) {
		builds++
		return newCollection(request{base: anyBase}, "node", []string{"n"}), nil
	}}})
	for range 5 {
		list, err := lists.get(t.Context(), "nodes")
		require.NoError(t, err)
		require.Contains(t, written(t, list, "http://ui"), "http://ui/v1/nodes")
	}
	require.Equal(t, 1, builds)
	c.record(topicVolumes, "vol-1")
	_, err := lists.get(t.Context(), "nodes")
	require.NoError(t, err)
	require.Equal(t, 1, builds, "a change of other objects")
	c.record(topicNodes)
	_, err = lists.get(t.Context(), "nodes")
	require.NoError(t, err)
	require.Equal(t, 2, builds)
}

func (e *env) dial(path string) *websocket.Conn {
	e.t.Helper()
	stream, response, err := websocket.Dial(e.t.Context(), e.base+path, nil)
	require.NoError(e.t, err)
	require.Equal(e.t, http.StatusSwitchingProtocols, response.StatusCode)
	stream.SetReadLimit(64 << 20)
	e.t.Cleanup(func() { _ = stream.CloseNow() })
	return stream
}

// next returns the next message of a stream.
func (e *env) next(stream *websocket.Conn) map[string]any {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	defer cancel()
	_, body, err := stream.Read(ctx)
	require.NoError(e.t, err)
	out := map[string]any{}
	require.NoError(e.t, json.Unmarshal(body, &out))
	require.Contains(e.t, string(body), e.base+"/v1/")
	return out
}
