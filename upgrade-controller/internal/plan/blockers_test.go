package plan_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/preflight"
	"drover.dev/drover/upgrade-controller/internal/model"
)

// three is a cluster in which nothing stands against anything: a volume with its engine and a replica on node-1.
func three() *model.World {
	w := model.New()
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		w.AddNode(name)
	}
	w.AddVolume("vol", "node-1", "node-1", "node-2", "node-3")
	return w
}

func blockers(w *model.World, change func(*preflight.World)) []preflight.Kind {
	in := preflight.World{Node: "node-1", Cluster: w.Cluster(), Target: model.NewImage}
	if change != nil {
		change(&in)
	}
	var kinds []preflight.Kind
	for _, b := range preflight.Blockers(in) {
		kinds = append(kinds, b.Kind)
	}
	return kinds
}

// records makes every instance manager report whether its frontends outlive its pod; empty: it reports nothing.
func records(status v1beta2.ConditionStatus) func(*model.World) {
	return func(w *model.World) {
		for _, m := range w.Managers {
			m.Status.Conditions = nil
			if status != "" {
				m.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceManagerFrontendRecords, Status: status,
					Reason: v1beta2.ReasonNotOnHost}}
			}
		}
	}
}

// snapshots gives the volume's engine that many, snap-0 and on, of at most so many; 0 reports nothing. Replicas are taken away.
func snapshots(count, limit int, replicas ...string) func(*model.World) {
	return func(w *model.World) {
		e := w.Engines["vol-e-0"]
		e.Spec.SnapshotMaxCount = limit
		e.Status.Snapshots = map[string]v1beta2.SnapshotInfo{"volume-head": {}, "gone": {Removed: true}}
		for i := range count {
			e.Status.Snapshots[fmt.Sprintf("snap-%d", i)] = v1beta2.SnapshotInfo{}
		}
		for _, r := range replicas {
			w.Replicas[r].Spec.NodeID = "node-2"
			delete(w.Replicas, "vol-r-node-2")
		}
	}
}

// standby makes the volume one that is filled for ever, without a frontend.
func standby(w *model.World) {
	v := w.Volumes["vol"]
	v.Spec.Standby, v.Status.IsStandby, v.Status.RestoreRequired, v.Spec.DisableFrontend = true, true, true, true
}

func TestEachBlockerIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*model.World)
		ask    func(*preflight.World)
		want   []preflight.Kind
	}{
		"nothing stands against a healthy volume": {},
		"a node that does not exist": {
			ask: func(w *preflight.World) { w.Node = "node-9" }, want: []preflight.Kind{preflight.UnknownNode}},
		"a node that is down": {
			change: func(w *model.World) {
				w.Nodes["node-1"].Status.Conditions[0] = v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse,
					Reason: v1beta2.ReasonKubernetesNodeGone}
			}, want: []preflight.Kind{preflight.NodeNotReady}},
		"no other node with a running v2 instance manager": {
			change: func(w *model.World) {
				for _, m := range w.Managers {
					if m.Spec.NodeID != "node-1" {
						m.Status.CurrentState = v1beta2.InstanceManagerStateStopped
					}
				}
			}, want: []preflight.Kind{preflight.NoOtherNode}},
		"every other node is kept free by a person": {
			change: func(w *model.World) {
				w.Nodes["node-2"].Spec.AllowScheduling, w.Nodes["node-3"].Spec.EvictionRequested = false, true
			}, want: []preflight.Kind{preflight.NoOtherNode}},
		"an image that the node does not have": {
			ask: func(w *preflight.World) { w.Image.Missing = "ErrImagePull" }, want: []preflight.Kind{preflight.ImageMissing}},
		"a skipped volume that is attached": {
			ask: func(w *preflight.World) { w.Skip = []string{"vol"} }, want: []preflight.Kind{preflight.SkippedAttached}},
		"a volume that is degraded": {
			change: func(w *model.World) { w.Volumes["vol"].Status.Robustness = v1beta2.VolumeRobustnessDegraded },
			want:   []preflight.Kind{preflight.Degraded}},
		"a replica that is being rebuilt": {
			change: func(w *model.World) {
				w.Engines["vol-e-0"].Status.ReplicaModeMap["vol-r-node-3"] = v1beta2.ReplicaModeWO
			},
			want: []preflight.Kind{preflight.Rebuilding}},
		"a volume that moves live": {
			change: func(w *model.World) { w.Volumes["vol"].Spec.MigrationNodeID = "node-2" }, want: []preflight.Kind{preflight.Migrating}},
		"a volume that has just moved live": {
			change: func(w *model.World) { w.Volumes["vol"].Status.CurrentMigrationNodeID = "node-2" },
			want:   []preflight.Kind{preflight.Migrating}},
		"a volume that must be larger": {
			change: func(w *model.World) { w.Volumes["vol"].Spec.Size *= 2 }, want: []preflight.Kind{preflight.Expanding}},
		"an engine that is being expanded": {
			change: func(w *model.World) { w.Engines["vol-e-0"].Status.IsExpanding = true }, want: []preflight.Kind{preflight.Expanding}},
		"a volume that is being restored": {
			change: func(w *model.World) { w.Volumes["vol"].Status.RestoreRequired = true }, want: []preflight.Kind{preflight.Restoring}},
		"a volume that is being cloned": {
			change: func(w *model.World) { w.Volumes["vol"].Status.CloneStatus.State = v1beta2.CloneInitiated },
			want:   []preflight.Kind{preflight.Cloning}},
		"a volume from which another one is being filled": {
			ask: func(w *preflight.World) {
				v := w.Cluster.Volumes["vol"]
				v.Clones = []string{"copy"}
				w.Cluster.Volumes["vol"] = v
			}, want: []preflight.Kind{preflight.Cloning}},
		"an engine that takes part in a clone": {
			change: func(w *model.World) {
				w.Engines["vol-e-0"].Status.CloneStatus = map[string]v1beta2.SnapshotCloneStatus{"r": {IsCloning: true}}
			}, want: []preflight.Kind{preflight.Cloning}},
		"an engine that is being restored": {
			change: func(w *model.World) {
				w.Engines["vol-e-0"].Status.RestoreStatus = map[string]v1beta2.RestoreStatus{"r": {IsRestoring: true}}
			}, want: []preflight.Kind{preflight.Restoring}},
		"an engine that reports that it rebuilds": {
			change: func(w *model.World) {
				w.Engines["vol-e-0"].Status.RebuildStatus = map[string]v1beta2.RebuildStatus{"r": {IsRebuilding: true}}
			}, want: []preflight.Kind{preflight.Rebuilding}},
		"a clone that was copied, however many of its replicas are healthy": {
			change: func(w *model.World) { w.Volumes["vol"].Status.CloneStatus.State = v1beta2.CloneCopyCompleted }},
		"a clone that is done": {
			change: func(w *model.World) { w.Volumes["vol"].Status.CloneStatus.State = v1beta2.CloneCompleted }},
		"a ublk frontend on the node": {
			change: func(w *model.World) { w.Volumes["vol"].Spec.Frontend = "ublk" }, want: []preflight.Kind{preflight.UblkFrontend}},
		"a ublk frontend elsewhere": {
			change: func(w *model.World) { w.Volumes["vol"].Spec.Frontend = "ublk" }, ask: func(w *preflight.World) { w.Node = "node-2" }},
		"a ublk frontend elsewhere, of which the node has the engine": {
			change: func(w *model.World) {
				w.Volumes["vol"].Spec.Frontend = "ublk"
				w.Engines["vol-e-0"].Spec.NodeID = "node-2"
			}, ask: func(w *preflight.World) { w.Node = "node-2" }, want: []preflight.Kind{preflight.UblkFrontend}},
		"a volume without a frontend": {
			change: func(w *model.World) { w.Volumes["vol"].Spec.DisableFrontend = true }, want: []preflight.Kind{preflight.NoFrontend}},
		"a volume without a frontend, of which the node has only a replica": {
			change: func(w *model.World) { w.Volumes["vol"].Spec.DisableFrontend = true },
			ask:    func(w *preflight.World) { w.Node = "node-2" }},
		"an instance manager whose frontends are lost with its pod": {change: records(v1beta2.ConditionFalse),
			want: []preflight.Kind{preflight.NotOnRecord}},
		"one that does not report whether they are": {change: records(""), want: []preflight.Kind{preflight.NotOnRecord}},
		"one on which the volume has only a replica": {change: records(v1beta2.ConditionFalse),
			ask: func(w *preflight.World) { w.Node = "node-2" }},
		"a disk of the node that is not ready": {change: func(w *model.World) {
			n := w.Nodes["node-1"]
			n.Spec.Disks = map[string]v1beta2.DiskSpec{"disk-1": {DiskType: "block"}}
			n.Status.DiskStatus = map[string]v1beta2.DiskStatus{"disk-1": {DiskUUID: "uuid-1"}}
		}, want: []preflight.Kind{preflight.DiskNotReady}},
		"a volume that has as many snapshots as it may": {
			change: snapshots(3, 3), want: []preflight.Kind{preflight.SnapshotLimit}},
		"one with room for the snapshot, but not for the rebuild": {
			change: snapshots(2, 3), want: []preflight.Kind{preflight.SnapshotLimit}},
		"one with room for both":               {change: snapshots(1, 3)},
		"one of which the node has no replica": {change: snapshots(2, 3, "vol-r-node-1")},
		"one whose engine has the snapshot of the upgrade": {change: snapshots(2, 3),
			ask: func(w *preflight.World) { w.Own = map[string]string{"vol": "snap-1"} }},
		"one whose engine has not got the volume's limit yet": {
			change: func(w *model.World) { snapshots(2, 250)(w); w.Volumes["vol"].Spec.SnapshotMaxCount = 3 },
			want:   []preflight.Kind{preflight.SnapshotLimit}},
		"one whose engine does not have its volume's higher limit yet": {
			change: func(w *model.World) { snapshots(2, 3)(w); w.Volumes["vol"].Spec.SnapshotMaxCount = 250 },
			want:   []preflight.Kind{preflight.SnapshotLimit}},
		"one with room by both limits": {
			change: func(w *model.World) { snapshots(2, 250)(w); w.Volumes["vol"].Spec.SnapshotMaxCount = 4 }},
		"one that does not report how many snapshots it may have": {change: snapshots(249, 0),
			want: []preflight.Kind{preflight.SnapshotLimit}},
		"a snapshot that is being removed": {ask: func(w *preflight.World) {
			v := w.Cluster.Volumes["vol"]
			v.Removals = []string{"snap-1"}
			w.Cluster.Volumes["vol"] = v
		}, want: []preflight.Kind{preflight.Purging}},
		"an engine that merges snapshots": {
			change: func(w *model.World) {
				w.Engines["vol-e-0"].Status.PurgeStatus = map[string]v1beta2.PurgeStatus{"r": {IsPurging: true}}
			}, want: []preflight.Kind{preflight.Purging}},
		"a backup that is being taken": {ask: func(w *preflight.World) {
			v := w.Cluster.Volumes["vol"]
			v.Backups = []string{"backup-1"}
			w.Cluster.Volumes["vol"] = v
		}, want: []preflight.Kind{preflight.BackingUp}},
		"a standby volume, which is detached once the node is closed": {change: standby},
		"a standby volume that is not detached yet": {change: func(w *model.World) {
			standby(w)
			w.Nodes["node-1"].Spec.UpgradeRequested = true
		}, want: []preflight.Kind{preflight.Standby}},
		"a volume that was activated, and lacks data": {change: func(w *model.World) {
			standby(w)
			w.Volumes["vol"].Spec.Standby = false
		}, want: []preflight.Kind{preflight.Restoring, preflight.NoFrontend}},
		"two replicas on the node": {
			change: func(w *model.World) { w.Replicas["vol-r-node-3"].Spec.NodeID = "node-1" },
			want:   []preflight.Kind{preflight.TwoReplicas}},
		"a detached volume is not checked": {
			change: func(w *model.World) {
				w.DetachVolume("vol")
				w.Volumes["vol"].Spec.Frontend = "ublk"
			}},
		"a node on which nothing is left to do": {
			change: func(w *model.World) {
				for name, m := range w.Managers {
					if m.Spec.NodeID == "node-1" && m.Spec.Image == model.OldImage {
						delete(w.Managers, name)
					} else if m.Spec.NodeID == "node-1" {
						m.Status.CurrentState, m.Status.APIVersion = v1beta2.InstanceManagerStateRunning, 7
					}
				}
				w.Volumes["vol"].Status.Robustness = v1beta2.VolumeRobustnessDegraded
			}},
	} {
		t.Run(name, func(t *testing.T) {
			w := three()
			if c.change != nil {
				c.change(w)
			}
			require.Equal(t, c.want, blockers(w, c.ask))
		})
	}
}

// The set-ups of the document that fail, and others with too few copies.
func TestTwoHealthyReplicasOnTwoNodesAreNeededOneOfThemElsewhere(t *testing.T) {
	for name, replicas := range map[string][]string{
		"a single replica beside the engine": {"node-1"}, "a single replica elsewhere": {"node-2"},
	} {
		t.Run(name, func(t *testing.T) {
			w := three()
			w.AddVolume("single", "node-1", replicas...)
			found := preflight.Blockers(preflight.World{Node: "node-1", Cluster: w.Cluster(), Target: model.NewImage})
			require.Len(t, found, 1)
			require.Equal(t, preflight.TooFewReplicas, found[0].Kind)
			require.Equal(t, "single", found[0].Volume)
			require.Contains(t, preflight.Sentence(found[:1]), "volume single: TooFewHealthyReplicas")
		})
	}
	t.Run("two elsewhere are enough", func(t *testing.T) {
		w := three()
		w.AddVolume("two", "node-1", "node-2", "node-3")
		require.Empty(t, blockers(w, nil))
	})
	t.Run("a replica on a node that is down is none", func(t *testing.T) {
		w := three()
		w.AddVolume("two", "node-1", "node-1", "node-2")
		w.Nodes["node-2"].Status.Conditions[0] = v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse,
			Reason: v1beta2.ReasonKubernetesNodeGone}
		require.Equal(t, []preflight.Kind{preflight.TooFewReplicas}, blockers(w, nil))
	})
}

// A person reads of everything at once.
func TestAllBlockersAreSaidAtOnce(t *testing.T) {
	w := three()
	w.Volumes["vol"].Status.Robustness = v1beta2.VolumeRobustnessDegraded
	w.Volumes["vol"].Spec.MigrationNodeID = "node-2"
	w.AddVolume("another", "node-1", "node-1")
	w.Engines["another-e-0"].Status.IsExpanding = true
	found := preflight.Blockers(preflight.World{Node: "node-1", Cluster: w.Cluster(), Target: model.NewImage,
		Image: preflight.Image{Missing: "ErrImagePull"}})
	sentence := preflight.Sentence(found)
	for _, part := range []string{"ImageMissing", "volume another: TooFewHealthyReplicas", "volume another: Expanding",
		"volume vol: Degraded", "volume vol: Migrating"} {
		require.Contains(t, sentence, part)
	}
}

func TestWhatBlocksSeveralNodesIsReportedOnceAndWhatEndsByItselfLast(t *testing.T) {
	var found []preflight.Blocker
	for i := range 22 {
		node := fmt.Sprintf("node-%d", i)
		found = append(found, preflight.Blocker{Node: node, Volume: "vol", Kind: preflight.Purging, Message: "wait."})
		if i < 2 {
			found = append(found, preflight.Blocker{Node: node, Volume: "vol", Kind: preflight.Standby, Message: "activate it."})
		}
	}
	found = append(found, preflight.Blocker{Node: "node-1", Kind: preflight.DiskNotReady, Message: "see it."})
	require.Equal(t, "Nodes node-0, node-1, volume vol: Standby: activate it. Node node-1: DiskNotReady: see it. Nodes node-0, node-1, "+
		"node-2, node-3, node-4, node-5, node-6, node-7, node-8, node-9, node-10, node-11, node-12, node-13, node-14, node-15, node-16, "+
		"node-17, node-18, node-19 and 2 more, volume vol: RemovingSnapshot: wait.", preflight.Sentence(found))
}

func TestVeryManyBlockersAreToldInPart(t *testing.T) {
	var many []preflight.Blocker
	for i := range 3000 {
		kind := preflight.Degraded
		if i%3 == 0 {
			kind = preflight.Rebuilding
		}
		many = append(many, preflight.Blocker{Node: "node-1", Volume: fmt.Sprintf("vol-%d", i), Kind: kind, Message: "wait."})
	}
	sentence := preflight.Sentence(many)
	require.Contains(t, sentence, "vol-199:")
	require.NotContains(t, sentence, "vol-200:")
	require.Contains(t, sentence, "And 2800 more: 1867 Degraded, 933 Rebuilding.")
}
