package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

// created is the body that the CSI plugin sends: zero values are left out, and the go client adds links and actions.
func created(name string, more map[string]any) map[string]any {
	body := map[string]any{"name": name, "size": "1073741824", "accessMode": "rwo", "staleReplicaTimeout": 2880,
		"revisionCounterDisabled": true, "dataEngine": "v1", "links": nil, "actions": nil, "numberOfReplicas": 2}
	for key, value := range more {
		body[key] = value
	}
	return body
}

// The CSI controller plugin, call by call, while the test plays attach-controller.
func TestTheControllerPluginCreatesPublishesExpandsAndDeletesAVolume(t *testing.T) {
	e := newEnv(t)
	e.readyNode("node-1")

	// CreateVolume: it asks for the volume, creates it, and waits for a state that is neither empty nor creating.
	e.refused(http.StatusNotFound, http.MethodGet, "/v1/volumes/pvc-1", nil)
	v := e.call(http.MethodPost, "/v1/volumes", created("pvc-1", nil))
	require.Equal(t, "", v["state"])
	require.Equal(t, "1073741824", v["size"])
	now := e.call(http.MethodGet, "/v1/volumes/pvc-1", nil)
	require.Equal(t, v["id"], now["id"], "the next read sees what was written")
	require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPost, "/v1/volumes", created("pvc-1", nil)), "already exists")
	stored := &v1beta2.Volume{}
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKey{Namespace: e.namespace, Name: "pvc-1"}, stored))
	require.Equal(t, "ignored", stored.Spec.ReplicaSoftAntiAffinity)
	require.Equal(t, "lz4", stored.Spec.BackupCompressionMethod)
	require.Equal(t, int64(2<<20), stored.Spec.BackupBlockSize)
	require.Equal(t, 250, stored.Spec.SnapshotMaxCount)
	require.Equal(t, "enabled", stored.Labels["recurring-job-group.longhorn.io/default"])
	e.status(stored, map[string]any{"state": "detached", "robustness": "unknown", "conditions": []any{scheduled()}})
	e.eventually("/v1/volumes/pvc-1", "detached", func(v map[string]any) bool { return v["state"] == "detached" && v["ready"] == true })

	// ControllerPublishVolume. The VolumeAttachment comes a moment later; the ticket's id is the one of Kubernetes' VolumeAttachment.
	sum := sha256.Sum256([]byte("pvc-1" + v1beta2.CSIDriver + "node-1"))
	id := "csi-" + hex.EncodeToString(sum[:])
	e.create(&v1beta2.VolumeAttachment{ObjectMeta: e.meta("pvc-1"), Spec: v1beta2.VolumeAttachmentSpec{Volume: "pvc-1"}})
	require.Contains(t, e.refused(http.StatusNotFound, http.MethodPost, "/v1/volumes/pvc-1?action=attach",
		map[string]any{"hostId": "nowhere"}), `no node "nowhere"`)
	attach := map[string]any{"hostId": "node-1", "attacherType": "csi-attacher", "attachmentID": id}
	v = e.call(http.MethodPost, "/v1/volumes/pvc-1?action=attach", attach)
	ticket := at(v, "volumeAttachment", "attachments", id).(map[string]any)
	require.Equal(t, "node-1", ticket["nodeID"])
	require.Equal(t, false, ticket["satisfied"])
	e.answerTicket("pvc-1", id, 1)
	e.eventually("/v1/volumes/pvc-1", "a satisfied ticket", func(v map[string]any) bool {
		return at(v, "volumeAttachment", "attachments", id, "satisfied") == true
	})
	e.call(http.MethodPost, "/v1/volumes/pvc-1?action=attach", attach)
	require.Equal(t, int64(1), e.ticket("pvc-1", id).Generation, "the same ticket again is no change")

	// ControllerUnpublishVolume, twice, and a new publication: the answer to the ticket before is none.
	for range 2 {
		v = e.call(http.MethodPost, "/v1/volumes/pvc-1?action=detach", map[string]any{"attachmentID": id, "hostId": "node-1"})
		require.Equal(t, map[string]any{}, at(v, "volumeAttachment", "attachments"))
	}
	v = e.call(http.MethodPost, "/v1/volumes/pvc-1?action=attach", attach)
	require.Equal(t, false, at(v, "volumeAttachment", "attachments", id, "satisfied"))
	require.Equal(t, int64(2), e.ticket("pvc-1", id).Generation)
	e.call(http.MethodPost, "/v1/volumes/pvc-1?action=detach", map[string]any{"forceDetach": true})

	// ControllerExpandVolume: rounded up; to the same size again is fine.
	v = e.call(http.MethodPost, "/v1/volumes/pvc-1?action=expand", map[string]any{"size": "1073741825"})
	require.Equal(t, "1075838976", v["size"])
	require.Equal(t, "1075838976", e.call(http.MethodPost, "/v1/volumes/pvc-1?action=expand", map[string]any{"size": "1Gi"})["size"])

	// DeleteVolume, twice.
	code, body, _ := e.send(http.MethodDelete, "/v1/volumes/pvc-1", nil)
	require.Equal(t, http.StatusOK, code)
	require.Empty(t, body)
	testkit.WaitGone(t, e.admin, stored)
	e.eventuallyGone("/v1/volumes/pvc-1")
	e.refused(http.StatusNotFound, http.MethodDelete, "/v1/volumes/pvc-1", nil)
}

// Each parameter of a StorageClass reaches the volume, or is refused by its name and with the reason.
func TestEachParameterOfAClassIsHonoredOrRefusedByName(t *testing.T) {
	e := newEnv(t)
	node := e.readyNode("node-1")
	node.Spec.Tags, node.Spec.Disks = []string{"rack-1"}, map[string]v1beta2.DiskSpec{"d": {Path: "/d", Tags: []string{"ssd"}}}
	require.NoError(t, e.admin.Update(t.Context(), node))
	e.eventually("/v1/nodes/node-1", "its tags", func(n map[string]any) bool { return len(n["tags"].([]any)) == 1 })
	v := e.call(http.MethodPost, "/v1/volumes", created("all", map[string]any{"accessMode": "rwx", "migratable": true, "encrypted": true,
		"dataLocality": "best-effort", "unmapMarkSnapChainRemoved": "enabled", "replicaSoftAntiAffinity": "enabled",
		"replicaZoneSoftAntiAffinity": "disabled", "replicaDiskSoftAntiAffinity": "enabled", "diskSelector": []string{"ssd"},
		"nodeSelector": []string{"rack-1"}, "backupTargetName": "other", "backupBlockSize": "16777216", "frontend": "iscsi",
		"recurringJobSelector": []any{map[string]any{"name": "daily", "isGroup": false}, map[string]any{"name": "g", "isGroup": true}}}))
	for key, want := range map[string]any{"accessMode": "rwx", "migratable": true, "encrypted": true, "dataLocality": "best-effort",
		"unmapMarkSnapChainRemoved": "enabled", "replicaSoftAntiAffinity": "enabled", "replicaZoneSoftAntiAffinity": "disabled",
		"replicaDiskSoftAntiAffinity": "enabled", "backupTargetName": "other", "backupBlockSize": "16777216", "frontend": "iscsi",
		"numberOfReplicas": float64(2), "staleReplicaTimeout": float64(2880), "revisionCounterDisabled": true} {
		require.Equal(t, want, v[key], key)
	}
	stored := &v1beta2.Volume{}
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKey{Namespace: e.namespace, Name: "all"}, stored))
	require.Equal(t, "enabled", stored.Labels["recurring-job.longhorn.io/daily"])
	require.Equal(t, "enabled", stored.Labels["recurring-job-group.longhorn.io/g"])
	require.NotContains(t, stored.Labels, "recurring-job-group.longhorn.io/default")

	for key, value := range map[string]any{"replicaAutoBalance": "best-effort", "snapshotDataIntegrity": "enabled",
		"freezeFilesystemForSnapshot": "enabled", "restoreVolumeRecurringJob": "enabled", "cloneMode": "linked-clone",
		"topologyRequirement": []any{map[string]any{"zone": "z"}}, "dataLayout": map[string]any{"type": "sharded"},
		"replicaRebuildingBandwidthLimit": 5, "diskSelector": []string{"nvme"}, "nodeSelector": []string{"rack-2"}, "size": "0",
		"snapshotMaxSize": "1Gi", "dataEngine": "v3", "dataSource": "vol://nothing", "accessMode": "rwx"} {
		require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPost, "/v1/volumes", created("no", map[string]any{key: value})),
			key, "the sentence names the parameter")
	}
	// The definition's own rules are the API's: their sentence reaches the client.
	require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPost, "/v1/volumes",
		created("no", map[string]any{"numberOfReplicas": 21})), "spec.numberOfReplicas must be 1 to 20")
	require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPost, "/v1/volumes",
		created("no", map[string]any{"migratable": true})), "set spec.accessMode to rwx")
	e.refused(http.StatusNotFound, http.MethodGet, "/v1/volumes/no", nil)
}

// Snapshots, backups and clones of the CSI plugin, while the test plays snapshot-controller and im-monitor.
func TestTheControllerPluginTakesSnapshotsAndBackups(t *testing.T) {
	e := newEnv(t)
	e.attachedVolume("saved", "node-1")
	e.user("saved", "db-0", corev1.PodRunning)
	e.eventually("/v1/volumes/saved", "its claim", func(v map[string]any) bool {
		return at(v, "kubernetesStatus", "pvcName") == "claim-saved"
	})
	const path = "/v1/volumes/saved?action="
	list := e.call(http.MethodPost, path+"snapshotCRList", nil)
	require.Equal(t, []any{}, list["data"])
	e.refused(http.StatusNotFound, http.MethodPost, path+"snapshotCRGet", map[string]any{"name": "snapshot-1"})
	s := e.call(http.MethodPost, path+"snapshotCRCreate", map[string]any{"name": "snapshot-1", "labels": map[string]any{"type": "snap"}})
	require.Equal(t, "snapshot-1", s["name"])
	require.Equal(t, float64(0), s["restoreSize"], "a number")
	stored := &v1beta2.Snapshot{ObjectMeta: e.meta("snapshot-1")}
	e.status(stored, map[string]any{"readyToUse": true, "restoreSize": 1 << 30, "creationTime": "2026-01-01T00:00:00Z"})
	require.Eventually(t, func() bool {
		s = e.call(http.MethodPost, path+"snapshotCRGet", map[string]any{"name": "snapshot-1"})
		return s["readyToUse"] == true && s["restoreSize"] == float64(1<<30)
	}, testkit.Timeout, testkit.Poll)
	require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPost, path+"snapshotCRCreate",
		map[string]any{"name": "snapshot-1"}), "already exists")

	// The official sanity suite writes names with capital letters.
	for range 2 {
		s = e.call(http.MethodPost, path+"snapshotCRCreate", map[string]any{"name": "Sanity-A"})
		require.Equal(t, "sanity-a", s["name"])
		require.Equal(t, "sanity-a", e.call(http.MethodPost, path+"snapshotCRGet", map[string]any{"name": "Sanity-A"})["name"])
	}
	e.attachedVolume("another", "node-1")
	e.eventually("/v1/volumes/another", "its engine", func(v map[string]any) bool { return len(v["controllers"].([]any)) == 1 })
	require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPost, "/v1/volumes/another?action=snapshotCRCreate",
		map[string]any{"name": "Sanity-A"}), "already exists")

	// A clone has its source's size and data engine.
	clone := e.call(http.MethodPost, "/v1/volumes", created("clone", map[string]any{"dataSource": "snap://saved/snapshot-1"}))
	require.Equal(t, "full-copy", clone["cloneMode"])
	require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPost, "/v1/volumes",
		created("clone-2", map[string]any{"dataSource": "vol://saved", "size": "2147483648"})), "a copy of volume saved has its size")

	// A backup of the snapshot.
	target := &v1beta2.BackupTarget{ObjectMeta: e.meta("default"), Spec: v1beta2.BackupTargetSpec{BackupTargetURL: "nfs://server:/backups"}}
	e.create(target)
	e.eventually("/v1/backuptargets/default", "a target that can be used", func(t map[string]any) bool { return t["available"] == true })
	list = e.call(http.MethodPost, "/v1/backupvolumes/saved?action=backupListByVolume", map[string]any{"name": "saved"})
	require.Equal(t, []any{}, list["data"])
	e.call(http.MethodPost, path+"snapshotBackup", map[string]any{"name": "snapshot-1", "labels": map[string]any{"type": "bak"}})
	list = e.call(http.MethodPost, "/v1/backupvolumes/saved?action=backupListByVolume", map[string]any{"name": "saved"})
	require.Len(t, list["data"], 1, "the next read sees it")
	backup := list["data"].([]any)[0].(map[string]any)
	require.Equal(t, "snapshot-1", backup["snapshotName"])
	require.Equal(t, "saved", backup["volumeName"])
	name := backup["name"].(string)
	require.Regexp(t, `^backup-[0-9a-f]{16}$`, name)
	b := &v1beta2.Backup{ObjectMeta: e.meta(name)}
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKeyFromObject(b), b))
	require.Contains(t, b.Spec.Labels["KubernetesStatus"], `"pvcName":"claim-saved"`)
	address := "nfs://server:/backups?backup=" + name + "&volume=saved"
	e.status(b, map[string]any{"state": "Completed", "url": address, "volumeSize": "1073741824", "volumeName": "saved"})
	require.Eventually(t, func() bool {
		got := e.call(http.MethodPost, "/v1/backupvolumes/saved?action=backupGet", map[string]any{"name": name})
		return got["state"] == "Completed" && got["url"] == address && got["volumeSize"] == "1073741824"
	}, testkit.Timeout, testkit.Poll)

	// A restored volume has the size of the volume that was backed up.
	restored := e.call(http.MethodPost, "/v1/volumes", created("restored", map[string]any{"fromBackup": address, "size": "2Gi"}))
	require.Equal(t, "1073741824", restored["size"])
	v := &v1beta2.Volume{}
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKey{Namespace: e.namespace, Name: "restored"}, v))
	require.Equal(t, "saved", v.Labels["backup-volume"])

	e.call(http.MethodPost, "/v1/backupvolumes/saved?action=backupDelete", map[string]any{"name": name})
	e.refused(http.StatusNotFound, http.MethodPost, "/v1/backupvolumes/saved?action=backupDelete", map[string]any{"name": name + "0"})
	for range 2 { // the second one is gone already
		require.Equal(t, "empty", e.call(http.MethodPost, path+"snapshotCRDelete", map[string]any{"name": "snapshot-1"})["type"])
		testkit.WaitGone(t, e.admin, stored)
	}
}

// The interface expands a volume whose claim wants less: its claim is raised, and the resizer asks again.
func TestAnExpansionRaisesTheClaimFirst(t *testing.T) {
	e := newEnv(t)
	e.attachedVolume("grown", "node-1")
	e.user("grown", "db-0", corev1.PodRunning)
	e.claim("grown", "pv-"+e.namespace+"-grown", "1Gi")
	e.eventually("/v1/volumes/grown", "its claim", func(v map[string]any) bool {
		return at(v, "kubernetesStatus", "pvcName") == "claim-grown"
	})
	// The class of this claim allows no expansion: the API server's sentence is the answer, and the volume stays.
	require.Contains(t, e.refused(http.StatusInternalServerError, http.MethodPost, "/v1/volumes/grown?action=expand",
		map[string]any{"size": "2Gi"}), "claim")
	require.Equal(t, "1073741824", e.call(http.MethodGet, "/v1/volumes/grown", nil)["size"])
}

// A claim may request a size that no volume has, such as 15G. The resizer asks for it, and the volume gets the next larger size: the claim
// stays as its user wrote it.
func TestAClaimWithAnOddSizeIsNotChanged(t *testing.T) {
	e := newEnv(t)
	e.attachedVolume("odd", "node-1")
	e.user("odd", "db-0", corev1.PodRunning)
	claim := e.claim("odd", "pv-"+e.namespace+"-odd", "15G")
	e.attachedVolume("other", "node-1")
	e.user("other", "db-1", corev1.PodRunning)
	e.claim("other", "pv-of-another-volume", "1Gi")
	for _, name := range []string{"odd", "other"} {
		e.eventually("/v1/volumes/"+name, "its claim", func(v map[string]any) bool {
			return at(v, "kubernetesStatus", "pvcName") == "claim-"+name
		})
		expanded := e.call(http.MethodPost, "/v1/volumes/"+name+"?action=expand", map[string]any{"size": "15000000000"})
		require.Equal(t, "15000928256", expanded["size"], name)
	}
	version := claim.ResourceVersion
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKeyFromObject(claim), claim))
	require.Equal(t, version, claim.ResourceVersion)
}

// claim creates the claim of a volume's user.
func (e *env) claim(volume, persistentVolume, size string) *corev1.PersistentVolumeClaim {
	e.t.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: e.meta("claim-" + volume), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeName: persistentVolume,
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}}}}
	e.create(claim)
	return claim
}

func TestNothingIsWrittenWhileThisProcessMustNotWrite(t *testing.T) {
	e := newEnv(t, func(e *env) { e.refusal = func() error { return errors.New("a longhorn-manager runs") } })
	e.readyNode("node-1")
	require.Contains(t, e.refused(http.StatusServiceUnavailable, http.MethodPost, "/v1/volumes", created("pvc-1", nil)), "longhorn-manager")
	e.refused(http.StatusServiceUnavailable, http.MethodDelete, "/v1/volumes/pvc-1", nil)
	e.refused(http.StatusServiceUnavailable, http.MethodPost, "/v1/volumes/pvc-1?action=attach", map[string]any{"hostId": "node-1"})
	require.Equal(t, []any{}, e.call(http.MethodGet, "/v1/volumes", nil)["data"], "it reads all the same")
}

func TestAnActionThatIsNotDoneSaysSo(t *testing.T) {
	e := newEnv(t)
	e.attachedVolume("vol-1", "node-1")
	require.Contains(t, e.refused(http.StatusNotImplemented, http.MethodPost, "/v1/volumes/vol-1?action=trimFilesystem", nil), "fstrim")
	e.refused(http.StatusNotImplemented, http.MethodPost, "/v1/volumes/vol-1?action=unheardOf", nil)
	e.refused(http.StatusBadRequest, http.MethodPost, "/v1/volumes/vol-1", nil)
	e.refused(http.StatusNotFound, http.MethodGet, "/v1/unheardof", nil)
	e.refused(http.StatusInternalServerError, http.MethodPost, "/v1/volumes", "not json")
	e.refused(http.StatusInternalServerError, http.MethodPost, "/v1/volumes", nil)
}

// Attacks: bodies, rates and pages of other sites are refused before anything is read or written.
func TestRequestsBeyondTheLimitsAreRefused(t *testing.T) {
	e := newEnv(t, func(e *env) {
		e.options.RequestsPerSecond, e.options.Burst, e.options.Origins = 1, 40, []string{"https://ui.example.com"}
	})
	e.readyNode("node-1")
	body := created("evil", nil)
	for origin, want := range map[string]int{"https://evil.example.com": http.StatusForbidden, "null": http.StatusForbidden,
		"https://ui.example.com": http.StatusOK} {
		code, text, _ := e.send(http.MethodPost, "/v1/volumes", body, "Origin", origin)
		require.Equal(t, want, code, "%s: %s", origin, text)
	}
	code, _, _ := e.send(http.MethodPost, "/v1/volumes", created("same", nil), "Origin", "http://"+e.options.Address)
	require.Equal(t, http.StatusOK, code, "the page that this address serves")
	code, _, _ = e.send(http.MethodDelete, "/v1/volumes/same", nil, "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusForbidden, code)
	require.Contains(t, e.refused(http.StatusRequestEntityTooLarge, http.MethodPost, "/v1/volumes", strings.Repeat(" ", 2<<20)), "bytes")
	for _, path := range []string{"/v1/volumes/..%2f..%2fapi", "/v1/volumes/%00", "/v1/volumes/A%20B", "/v1/nodes/%2e%2e"} {
		code, text, _ := e.send(http.MethodGet, path, nil)
		require.Equal(t, http.StatusNotFound, code, "%s: %s", path, text)
	}
	_, text, _ := e.send(http.MethodGet, "/v1", nil, "X-Forwarded-Host", `evil"},{"x":"`)
	require.NotContains(t, string(text), `"},{"x":"`, "a header cannot add JSON")
	limited := 0
	for range 60 {
		if code, _, _ := e.send(http.MethodGet, "/v1", nil); code == http.StatusTooManyRequests {
			limited++
		}
	}
	require.NotZero(t, limited)
}

// scheduled is the condition of a volume whose replicas have places.
func scheduled() map[string]any {
	return map[string]any{"type": v1beta2.VolumeScheduled, "status": "True", "reason": "", "message": "", "lastProbeTime": "",
		"lastTransitionTime": ""}
}

func (e *env) readyNode(name string) *v1beta2.Node {
	e.t.Helper()
	n := &v1beta2.Node{ObjectMeta: e.meta(name)}
	e.create(n)
	e.status(n, map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "NodeReady", "message": "",
		"lastProbeTime": "", "lastTransitionTime": ""}}})
	e.eventually("/v1/nodes", "a node that is ready", func(l map[string]any) bool {
		for _, item := range l["data"].([]any) {
			if at(item.(map[string]any), "conditions", "Ready", "status") == "True" && at(item.(map[string]any), "id") == name {
				return true
			}
		}
		return false
	})
	require.NoError(e.t, e.admin.Get(e.t.Context(), client.ObjectKeyFromObject(n), n))
	return n
}

// answerTicket plays attach-controller: the ticket is satisfied.
func (e *env) answerTicket(volume, id string, generation int64) {
	e.t.Helper()
	e.status(&v1beta2.VolumeAttachment{ObjectMeta: e.meta(volume)}, map[string]any{"attachmentTicketStatuses": map[string]any{
		id: map[string]any{"id": id, "satisfied": true, "generation": generation, "conditions": []any{}}}})
}

func (e *env) ticket(volume, id string) v1beta2.AttachmentTicket {
	e.t.Helper()
	va := &v1beta2.VolumeAttachment{}
	require.NoError(e.t, e.admin.Get(e.t.Context(), client.ObjectKey{Namespace: e.namespace, Name: volume}, va))
	require.Contains(e.t, va.Spec.AttachmentTickets, id)
	return va.Spec.AttachmentTickets[id]
}

func (e *env) eventuallyGone(path string) {
	e.t.Helper()
	require.Eventually(e.t, func() bool {
		code, _, _ := e.send(http.MethodGet, path, nil)
		return code == http.StatusNotFound
	}, testkit.Timeout, testkit.Poll)
}
