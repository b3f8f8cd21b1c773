package ticket

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

type row struct {
	name  string
	world World
	want  []string
}

func check(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			verdict := Decide(r.world)
			var got []string
			for _, c := range verdict.Changes {
				got = append(got, said(c))
			}
			require.Equal(t, r.want, got)
			require.Empty(t, Decide(after(r.world, verdict.Changes)).Changes, "what was decided stays decided")
		})
	}
}

func TestRestore(t *testing.T) {
	needs := volume(func(v *v1beta2.Volume) { v.Status.RestoreRequired = true })
	const id = "volume-restore-controller-vol-1"
	check(t, []row{
		{"a volume that needs its backup's data is attached without a frontend", basic(needs), []string{"+ " + id + " @node-1 true"}},
		{"a strict-local one without a replica waits for that", basic(needs, strictLocal, func(w *World) { w.Replicas = nil }), nil},
		{"and is filled where it is", basic(needs, strictLocal, func(w *World) { w.Replicas = w.Replicas[1:] }),
			[]string{"+ " + id + " @node-2 true"}},
		{"a volume that has all its data is left alone", basic(), nil},
		{"the ticket stays while data is missing", basic(needs, own(v1beta2.AttacherRestore, "node-1", "true"), attachedTo("node-1")), nil},
		{"the ticket goes when the data is there", basic(own(v1beta2.AttacherRestore, "node-1", "true"), attachedTo("node-1")),
			[]string{"- " + id + " Done"}},
		{"a volume that is being deleted keeps its tickets",
			basic(needs, volume(func(v *v1beta2.Volume) { v.DeletionTimestamp = &metav1.Time{Time: now} })), nil},
	})
}

var strictLocal = volume(func(v *v1beta2.Volume) {
	v.Spec.DataLocality, v.Spec.NumberOfReplicas = v1beta2.DataLocalityStrictLocal, 1
})

// A standby volume would block the upgrade of its nodes for ever.
func TestAStandbyVolumeDetachesForTheUpgradeOfItsNodes(t *testing.T) {
	const id = "volume-restore-controller-vol-1"
	standby := volume(func(v *v1beta2.Volume) {
		v.Spec.Standby, v.Spec.DataEngine, v.Status.RestoreRequired = true, v1beta2.DataEngineV2, true
	})
	filled := func(w *World) {
		w.Engine.Spec.RequestedBackupRestore, w.Engine.Status.LastRestoredBackup = "backup-1", "backup-1"
	}
	copying := func(w *World) {
		filled(w)
		w.Engine.Status.RestoreStatus = map[string]v1beta2.RestoreStatus{"tcp://10.0.0.1:10000": {IsRestoring: true}}
	}
	held := own(v1beta2.AttacherRestore, "node-1", "true")
	check(t, []row{
		{"it is held while no node is upgraded", basic(standby, filled, held, attachedTo("node-1")), nil},
		{"it is let go when its target's node is", basic(standby, filled, held, attachedTo("node-1"), upgrading("node-1")),
			[]string{"- " + id + " Done"}},
		{"and when that of a replica is", basic(standby, filled, held, attachedTo("node-1"), upgrading("node-2")),
			[]string{"- " + id + " Done"}},
		{"not for another node", basic(standby, filled, held, attachedTo("node-1"), upgrading("node-3")), nil},
		{"what is being copied is finished first", basic(standby, copying, held, attachedTo("node-1"), upgrading("node-1")), nil},
		{"a backup that it does not have, too", basic(standby, filled, func(w *World) { w.Engine.Spec.RequestedBackupRestore = "backup-2" },
			held, attachedTo("node-1"), upgrading("node-1")), nil},
		{"it does not come back while the node is closed", basic(standby, upgrading("node-1")), nil},
		{"but afterwards", basic(standby, filled), []string{"+ " + id + " @node-1 true"}},
		{"one that was activated stays until it has its data",
			basic(standby, volume(func(v *v1beta2.Volume) { v.Spec.Standby = false }), filled, held, attachedTo("node-1"),
				upgrading("node-1")), nil},
		{"v1 is not upgraded by node", basic(standby, volume(func(v *v1beta2.Volume) { v.Spec.DataEngine = v1beta2.DataEngineV1 }), filled,
			held, attachedTo("node-1"), upgrading("node-1")), nil},
	})
}

// After a failure the ticket pauses, so that others may move the volume.
func TestAnExpansionThatFailedLetsItsTicketGoForAWhile(t *testing.T) {
	const id = "volume-expansion-controller-vol-1"
	failed := func(ago time.Duration) World {
		w := basic(attachedTo("node-1"), own(v1beta2.AttacherExpansion, "node-1", "any"),
			volume(func(v *v1beta2.Volume) { v.Spec.Size = 20 }))
		w.Engine.Status.CurrentSize, w.Engine.Status.LastExpansionError = 10, "it has not grown"
		w.Engine.Status.LastExpansionFailedAt = w.Now.Add(-ago).UTC().Format(time.RFC3339)
		return w
	}
	v := Decide(failed(time.Second))
	require.Len(t, v.Changes, 1)
	require.Equal(t, id+" Done", v.Changes[0].ID+" "+string(v.Changes[0].Why))
	w := failed(time.Second)
	require.WithinDuration(t, w.Now.Add(expansionPause), v.RequeueAt, 2*time.Second)
	for _, c := range Decide(failed(expansionPause)).Changes {
		require.NotEqual(t, WhyDone, c.Why, "after the pause it holds the volume again")
	}
}

func TestExpansion(t *testing.T) {
	grown := volume(func(v *v1beta2.Volume) { v.Spec.Size = 20 })
	const id = "volume-expansion-controller-vol-1"
	check(t, []row{
		{"a detached volume that is too small is attached", basic(grown), []string{"+ " + id + " @node-1 any"}},
		{"an attached one is held where it is, whatever its frontend", basic(grown, attachedTo("node-2")),
			[]string{"+ " + id + " @node-2 any"}},
		{"an engine that never ran has the size of its creation", basic(grown, func(w *World) { w.Engine.Status.CurrentSize = 0 }),
			[]string{"+ " + id + " @node-1 any"}},
		{"a volume without an engine gets one of the right size", basic(grown, func(w *World) { w.Engine = nil }), nil},
		{"the ticket goes when the engine has grown", basic(grown, attachedTo("node-1"), own(v1beta2.AttacherExpansion, "node-1", "any"),
			func(w *World) { w.Engine.Status.CurrentSize = 20 }), []string{"- " + id + " Done"}},
		{"a faulted volume gets one, too: its answer reports why it waits",
			basic(grown, robust(v1beta2.VolumeRobustnessFaulted), failed("node-1"), failed("node-2")), []string{"+ " + id + " @ any"}},
		{"a volume never shrinks", basic(volume(func(v *v1beta2.Volume) { v.Spec.Size = 5 })), nil},
	})
}

// goingFrom deletes the replica on the node; its data is still there.
func goingFrom(node string) change {
	return func(w *World) {
		for i := range w.Replicas {
			if w.Replicas[i].Spec.NodeID == node {
				w.Replicas[i].DeletionTimestamp = &metav1.Time{Time: now}
			}
		}
	}
}

func TestEviction(t *testing.T) {
	const id = "volume-eviction-controller-vol-1"
	node := func(w *World) { w.Nodes["node-2"].Spec.EvictionRequested = true }
	disk := func(w *World) {
		w.Nodes["node-2"].Spec.Disks = map[string]v1beta2.DiskSpec{"fast": {EvictionRequested: true}, "slow": {}}
		w.Nodes["node-2"].Status.DiskStatus = map[string]v1beta2.DiskStatus{"fast": {DiskUUID: "disk-of-node-2"},
			"slow": {DiskUUID: "other"}}
	}
	otherDisk := func(w *World) {
		disk(w)
		w.Nodes["node-2"].Spec.Disks = map[string]v1beta2.DiskSpec{"slow": {EvictionRequested: true}}
	}
	unplaced := volume(func(v *v1beta2.Volume) {
		v.Status.Conditions = []v1beta2.Condition{{Type: conditionScheduled, Status: v1beta2.ConditionFalse}}
	})
	mine := own(v1beta2.AttacherEviction, "node-1", "any")
	check(t, []row{
		{"a volume whose replicas have no other place is not attached", basic(node, unplaced), nil},
		{"nor does it stay attached for them", basic(node, unplaced, attachedTo("node-1"), mine), []string{"- " + id + " Done"}},
		{"it stays attached while one is rebuilt", basic(node, unplaced, attachedTo("node-1"), mine, func(w *World) {
			coming := replicaOn("node-3")
			coming.Spec.HealthyAt = ""
			w.Replicas = append(w.Replicas, coming)
		}), nil},
		{"or while one that has left is deleted", basic(node, unplaced, attachedTo("node-1"), mine, goingFrom("node-2")), nil},
		{"a detached volume with a replica on an evicted node is attached", basic(node), []string{"+ " + id + " @node-1 any"}},
		{"a disk alone may be evicted", basic(disk), []string{"+ " + id + " @node-1 any"}},
		{"another disk of the node does not concern the volume", basic(otherDisk), nil},
		{"an attached volume needs no ticket for it", basic(node, attachedTo("node-1")), nil},
		{"the ticket stays until the replica has left", basic(node, attachedTo("node-1"), own(v1beta2.AttacherEviction, "node-1", "any")),
			nil},
		{"the ticket goes when nothing is left there", basic(node, attachedTo("node-1"), own(v1beta2.AttacherEviction, "node-1", "any"),
			func(w *World) { w.Replicas = w.Replicas[:1] }), []string{"- " + id + " Done"}},
		{"the ticket stays until a deleted replica is gone: only a running engine can show that its data is elsewhere",
			basic(node, attachedTo("node-1"), own(v1beta2.AttacherEviction, "node-1", "any"), goingFrom("node-2")), nil},
		{"a deleted replica on a node that is down is not waited for",
			basic(node, attachedTo("node-1"), own(v1beta2.AttacherEviction, "node-1", "any"), goingFrom("node-2"), down("node-2")),
			[]string{"- " + id + " Done"}},
		{"the engine ended before a deleted replica had left: it is attached again", basic(node, goingFrom("node-2")),
			[]string{"+ " + id + " @node-1 any"}},
		{"a replica that failed has nothing that could leave", basic(node, failed("node-2")), nil},
		{"one that leaves a node that is drained", basic(drained("node-2", true)), []string{"+ " + id + " @node-1 any"}},
		{"one that has a copy elsewhere does not leave it", basic(drained("node-2", false)), nil},
		{"one that left until the node took pods again stays", basic(leaving("node-2")), nil},
		{"one on a drained node that went down stays", basic(drained("node-2", true), down("node-2")), nil},
		{"the only one is read on the node itself, although that is cordoned", basic(drained("node-2", true), func(w *World) {
			w.Replicas = w.Replicas[1:]
		}), []string{"+ " + id + " @node-2 any"}},
		{"a faulted volume cannot leave", basic(node, robust(v1beta2.VolumeRobustnessFaulted)), nil},
	})
}

func TestRebuilding(t *testing.T) {
	const id = "volume-rebuilding-controller-vol-1"
	enabled := volume(func(v *v1beta2.Volume) { v.Spec.OfflineRebuilding = "enabled" })
	disabled := volume(func(v *v1beta2.Volume) { v.Spec.OfflineRebuilding = "disabled" })
	setting := func(w *World) { w.Settings.OfflineRebuilding = true }
	unplaced := volume(func(v *v1beta2.Volume) {
		v.Status.Conditions = []v1beta2.Condition{{Type: conditionScheduled, Status: v1beta2.ConditionFalse}}
	})
	mine := own(v1beta2.AttacherRebuilding, "node-1", "any")
	check(t, []row{
		{"a detached volume that lacks a replica is attached", basic(enabled, failed("node-2")), []string{"+ " + id + " @node-1 any"}},
		{"the setting speaks for volumes that do not", basic(setting, failed("node-2")), []string{"+ " + id + " @node-1 any"}},
		{"a volume may refuse", basic(setting, disabled, failed("node-2")), nil},
		{"without either nothing is rebuilt offline", basic(failed("node-2")), nil},
		{"a volume with all its replicas is left alone", basic(enabled), nil},
		{"a volume with a holder is rebuilt while attached", basic(enabled, failed("node-2"), attachedTo("node-1")), nil},
		{"replicas that have no place are not waited for", basic(enabled, failed("node-2"), unplaced), nil},
		{"with the last replica lost there is nothing to rebuild from", basic(enabled, failed("node-1"), failed("node-2")), nil},
		{"the ticket stays until enough are healthy", basic(enabled, failed("node-2"), attachedTo("node-1"), mine, unplaced), nil},
		{"the ticket goes then", basic(enabled, attachedTo("node-1"), mine), []string{"- " + id + " Done"}},
		{"the ticket goes as soon as a pod wants the volume", basic(enabled, failed("node-2"), attachedTo("node-1"), mine,
			ticket("csi-1", v1beta2.AttacherCSI, "node-3")), []string{"- " + id + " Done"}},
		{"it does not come while a pod wants the volume, even one that cannot have it", basic(enabled, failed("node-2"), down("node-3"),
			ticket("csi-1", v1beta2.AttacherCSI, "node-3")), nil},
		{"it yields to our own work of higher priority, too", basic(enabled, failed("node-2"), mine,
			volume(func(v *v1beta2.Volume) { v.Spec.Size = 20 })),
			[]string{"+ volume-expansion-controller-vol-1 @node-1 any", "- " + id + " Done"}},
		{"a snapshot is no more than its equal", basic(enabled, failed("node-2"), attachedTo("node-1"), mine,
			ticket("snapshot-controller-s", v1beta2.AttacherSnapshot, "node-1")), nil},
	})
}

func TestClone(t *testing.T) {
	from := func(source, state string) change {
		return volume(func(v *v1beta2.Volume) { v.Spec.DataSource, v.Status.CloneStatus.State = source, state })
	}
	target := func(state string) change {
		return func(w *World) {
			clone := v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "copy", UID: "uid-copy"},
				Spec: v1beta2.VolumeSpec{DataSource: "snap://vol-1/s"}}
			clone.Status.CloneStatus.State, clone.Status.State = state, v1beta2.VolumeStateAttached
			w.Clones = []v1beta2.Volume{clone}
		}
	}
	detached := func(w *World) { w.Clones[0].Status.State = v1beta2.VolumeStateDetached }
	const id, source = "volume-clone-controller-vol-1", "volume-clone-controller-copy"
	check(t, []row{
		{"the target is attached without a frontend", basic(from("vol://other", "")), []string{"+ " + id + " @node-1 true"}},
		{"a snapshot is a source, too", basic(from("snap://other/s", "initiated")), []string{"+ " + id + " @node-1 true"}},
		{"it is free when it is copied, however many of its replicas are healthy",
			basic(from("vol://other", "copy-completed-awaiting-healthy"),
				own(v1beta2.AttacherClone, "node-1", "true")), []string{"- " + id + " Done"}},
		{"a completed clone is free", basic(from("vol://other", "completed"), own(v1beta2.AttacherClone, "node-1", "true")),
			[]string{"- " + id + " Done"}},
		{"so is a failed one", basic(from("vol://other", "failed"), own(v1beta2.AttacherClone, "node-1", "true")),
			[]string{"- " + id + " Done"}},
		{"a volume without a replica yet has nothing to attach", basic(from("vol://other", ""), func(w *World) { w.Replicas = nil }), nil},
		{"nor has a strict-local one", basic(from("vol://other", ""), strictLocal, func(w *World) { w.Replicas = nil }), nil},
		{"a strict-local one is filled where its replica is", basic(from("vol://other", ""), strictLocal,
			func(w *World) { w.Replicas = w.Replicas[1:] }), []string{"+ " + id + " @node-2 true"}},
		{"one that lost its replicas keeps the ticket that it has",
			basic(from("vol://other", ""), own(v1beta2.AttacherClone, "", "true"), func(w *World) { w.Replicas = nil }), nil},
		{"other data sources are not ours", basic(from("http://somewhere", "")), nil},
		{"the source is held as it is, by the target's name", basic(target("initiated"), attachedTo("node-2")),
			[]string{"+ " + source + " @node-2 any"}},
		{"it is not held for a target that is not attached, such as one without a place", basic(target("initiated"), detached), nil},
		{"it is free while the target is not attached", basic(target("initiated"), detached,
			ticket(source, v1beta2.AttacherClone, "node-1", v1beta2.TicketDisableFrontend, "any")), []string{"- " + source + " Done"}},
		{"the source is free when the clone is copied", basic(target("copy-completed-awaiting-healthy"),
			ticket(source, v1beta2.AttacherClone, "node-1", v1beta2.TicketDisableFrontend, "any")), []string{"- " + source + " Done"}},
		{"the source is free when the clone is completed", basic(target("completed"),
			ticket(source, v1beta2.AttacherClone, "node-1", v1beta2.TicketDisableFrontend, "any")), []string{"- " + source + " Done"}},
		{"the source is free when the target is gone",
			basic(ticket(source, v1beta2.AttacherClone, "node-1", v1beta2.TicketDisableFrontend, "any")),
			[]string{"- " + source + " Done"}},
	})
}

func TestExport(t *testing.T) {
	source := func(change func(*v1beta2.BackingImageDataSource)) change {
		return func(w *World) {
			s := v1beta2.BackingImageDataSource{ObjectMeta: metav1.ObjectMeta{Name: "image", UID: "uid-image"},
				Spec: v1beta2.BackingImageDataSourceSpec{
					SourceType: "export-from-volume", Parameters: map[string]string{"volume-name": volumeName},
				}}
			change(&s)
			w.Exports = append(w.Exports, s)
		}
	}
	const id = "bim-ds-controller-image"
	stored := ticket(id, v1beta2.AttacherBackingImageData, "node-1", v1beta2.TicketDisableFrontend, "any")
	check(t, []row{
		{"a volume from which an image is exported is attached", basic(source(func(*v1beta2.BackingImageDataSource) {})),
			[]string{"+ " + id + " @node-1 any"}},
		{"it stays while the image is exported", basic(stored,
			source(func(s *v1beta2.BackingImageDataSource) { s.Status.CurrentState = "in-progress" })), nil},
		{"it is free when the image is there", basic(stored,
			source(func(s *v1beta2.BackingImageDataSource) { s.Status.CurrentState = "ready" })), []string{"- " + id + " Done"}},
		{"it is free when the file was handed over",
			basic(stored, source(func(s *v1beta2.BackingImageDataSource) { s.Spec.FileTransferred = true })),
			[]string{"- " + id + " Done"}},
		{"it is free when the data source is gone", basic(stored), []string{"- " + id + " Done"}},
		{"a download needs no volume", basic(source(func(s *v1beta2.BackingImageDataSource) { s.Spec.SourceType = "download" })), nil},
		{"a data source of the same name with another UID is another owner", basic(
			ticket(id, v1beta2.AttacherBackingImageData, "node-1", v1beta2.TicketDisableFrontend, "any", v1beta2.TicketOwnerKind,
				KindDataSource,
				v1beta2.TicketOwnerName, "image", v1beta2.TicketOwnerUID, "older"), source(func(*v1beta2.BackingImageDataSource) {})),
			[]string{"+ " + id + " @node-1 any"}},
	})
}

func TestShare(t *testing.T) {
	rwx := volume(func(v *v1beta2.Volume) { v.Spec.AccessMode = v1beta2.AccessModeReadWriteMany })
	migratable := volume(func(v *v1beta2.Volume) { v.Spec.Migratable = true })
	shareOn := func(node string) change {
		return func(w *World) {
			w.ShareManager = &v1beta2.ShareManager{ObjectMeta: metav1.ObjectMeta{Name: volumeName, UID: "uid-share"},
				Status: v1beta2.ShareManagerStatus{OwnerID: node}}
		}
	}
	const id = "share-manager-controller-vol-1"
	pod := ticket("csi-1", v1beta2.AttacherCSI, "node-3")
	mine := ticket(id, v1beta2.AttacherShareManager, "node-1", v1beta2.TicketDisableFrontend, "false")
	check(t, []row{
		{"the first pod brings the ticket of the share, on its node", basic(rwx, pod, shareOn("node-2")),
			[]string{"+ " + id + " @node-2 false"}},
		{"a second pod changes nothing", basic(rwx, pod, mine, shareOn("node-1"), ticket("csi-2", v1beta2.AttacherCSI, "node-2")), nil},
		{"the ticket follows the share", basic(rwx, pod, mine, shareOn("node-2")), []string{"+ " + id + " @node-2 false"}},
		{"it goes with the last pod", basic(rwx, mine, shareOn("node-1")), []string{"- " + id + " Done"}},
		{"without a share manager it names no node", basic(rwx, pod), []string{"+ " + id + " @ false"}},
		{"it stays where it is while the share manager names no node", basic(rwx, pod, mine, shareOn("")), nil},
		{"a migratable volume is not shared", basic(rwx, migratable, pod, shareOn("node-2")), nil},
		{"an RWO volume is not shared", basic(pod, shareOn("node-2")), nil},
		{"a pod's ticket that ends does not count", basic(rwx, mine, shareOn("node-1"), owner(KindKubernetesAttachment, "csi-1", false, ""),
			ticket("csi-1", v1beta2.AttacherCSI, "node-3", v1beta2.TicketOwnerKind, KindKubernetesAttachment, v1beta2.TicketOwnerName,
				"csi-1")),
			[]string{"- csi-1 OwnerGone", "- " + id + " Done"}},
	})
	require.True(t, Decide(basic(rwx, pod)).NoShareManager)
	require.True(t, Decide(basic(rwx, pod, shareOn(""))).NoShareManager)
	require.False(t, Decide(basic(rwx, pod, shareOn("node-1"))).NoShareManager)
	require.False(t, Decide(basic(rwx)).NoShareManager, "no pod wants a share")
}

func TestSalvage(t *testing.T) {
	const id = "salvage-controller-vol-1"
	faulted := robust(v1beta2.VolumeRobustnessFaulted)
	lost := func(w *World) { failed("node-1")(w); failed("node-2")(w) }
	pod := ticket("csi-1", v1beta2.AttacherCSI, "node-3")
	mine := own(v1beta2.AttacherSalvage, "node-1", "false")
	check(t, []row{
		{"a faulted volume whose pod's node is down is wanted back, first nowhere", basic(faulted, lost, pod, down("node-3")),
			[]string{"+ " + id + " @ false"}},
		{"then where a salvaged replica is", basic(pod, down("node-3"), own(v1beta2.AttacherSalvage, "", "false")),
			[]string{"+ " + id + " @node-1 false"}},
		{"it stays until the volume was attached once", basic(pod, down("node-3"), mine), nil},
		{"it goes when the volume is well", basic(pod, down("node-3"), mine, attachedTo("node-1")), []string{"- " + id + " Done"}},
		{"a degraded volume is well enough", basic(pod, down("node-3"), mine, attachedTo("node-1"),
			robust(v1beta2.VolumeRobustnessDegraded)), []string{"- " + id + " Done"}},
		{"a pod that can have the volume suffices", basic(faulted, lost, pod), nil},
		{"the ticket goes at once when the pod comes elsewhere",
			basic(pod, down("node-3"), mine, attachedTo("node-1"), robust(v1beta2.VolumeRobustnessUnknown),
				ticket("csi-2", v1beta2.AttacherCSI, "node-2")), []string{"- " + id + " Done"}},
		{"anybody's ticket that can attach the volume suffices",
			basic(faulted, lost, pod, down("node-3"), ticket("snapshot-controller-s", v1beta2.AttacherSnapshot, "node-1")), nil},
		{"a volume without tickets stays faulted", basic(faulted, lost), nil},
		{"a snapshot that cannot be taken does not use the volume",
			basic(faulted, lost, down("node-3"), ticket("snapshot-controller-s", v1beta2.AttacherSnapshot, "node-3")), nil},
		{"without auto-salvage nothing is salvaged",
			basic(faulted, lost, pod, down("node-3"), func(w *World) { w.Settings.AutoSalvage = false }), nil},
		{"the frontend is as the last holder wanted", basic(faulted, lost, pod, down("node-3"),
			volume(func(v *v1beta2.Volume) { v.Spec.DisableFrontend = true })), []string{"+ " + id + " @ true"}},
		{"a volume that is not faulted gets no ticket", basic(pod, down("node-3")), nil},
	})
}
