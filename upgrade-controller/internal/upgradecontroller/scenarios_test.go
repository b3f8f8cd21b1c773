package upgradecontroller

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/upgrade-controller/internal/model"
	"drover.dev/drover/upgrade-controller/internal/setting"
)

// The set-ups of the document that succeed.
var succeed = map[string]func(*model.World){
	"case 1: engines and replicas on one node": func(w *model.World) {
		for _, v := range []string{"vol-1", "vol-2", "vol-3"} {
			w.AddVolume(v, "node-1", "node-1", "node-2", "node-3")
		}
	},
	"case 2: engines without a replica beside them": func(w *model.World) {
		for _, v := range []string{"vol-1", "vol-2", "vol-3"} {
			w.AddVolume(v, "node-1", "node-2", "node-3")
		}
	},
	"case 3: an engine on each node": func(w *model.World) {
		w.AddVolume("vol-1", "node-1", "node-1", "node-2", "node-3")
		w.AddVolume("vol-2", "node-2", "node-1", "node-2", "node-3")
		w.AddVolume("vol-3", "node-3", "node-1", "node-2", "node-3")
	},
}

// U1.
func TestThreeNodesAreUpgradedUnderAttachedVolumes(t *testing.T) {
	for name, build := range succeed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, build)
			w.play()
			p := w.start()
			w.upgrade("upgrade", nil)
			m := w.reaches("upgrade", v1beta2.UpgradeStateCompleted)
			require.ElementsMatch(t, []string{"node-1", "node-2", "node-3"}, m.Status.UpgradedNodes)
			require.True(t, conditions.IsTrue(m.Status.Conditions, v1beta2.UpgradeCompleted))
			w.upgraded("node-1", "node-2", "node-3")
			w.leftNothing()
			t.Logf("%d writes", len(p.Client.Writes()))
		})
	}
}

func (w *world) upgraded(nodes ...string) {
	w.t.Helper()
	cluster := w.objects().Cluster()
	for _, node := range nodes {
		require.True(w.t, cluster.Nodes[node].Upgraded(model.NewImage), node)
	}
}

// leftNothing: UPG-4 and no objects of ours beside the upgrades.
func (w *world) leftNothing() {
	w.t.Helper()
	w.until("something is left behind", func() bool {
		found := w.objects()
		clean := len(found.Snapshots) == 0
		for _, n := range found.Nodes {
			clean = clean && !n.Spec.UpgradeRequested
		}
		for _, v := range found.Volumes {
			clean = clean && v.Spec.TargetNodeID == "" && v.Status.Robustness != v1beta2.VolumeRobustnessDegraded
		}
		return clean
	})
}

// U2: the set-ups of the document that fail.
func TestAVolumeWithASingleReplicaIsRefusedBeforeAnythingIsTouched(t *testing.T) {
	for name, replica := range map[string]string{"beside its engine": "node-1", "on another node": "node-2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(w *model.World) {
				w.AddVolume("vol-1", "node-1", replica)
				w.AddVolume("vol-2", "node-1", "node-1", "node-2", "node-3")
			})
			w.play()
			w.start()
			before := w.objects()
			w.upgrade("upgrade", nil)
			m := w.reaches("upgrade", v1beta2.UpgradeStateError)
			require.Contains(t, m.Status.ErrorMessage, "volume vol-1: TooFewHealthyReplicas")
			require.NotContains(t, m.Status.ErrorMessage, "vol-2")
			require.Equal(t, v1beta2.ReasonUpgradeBlocked, conditions.Reason(m.Status.Conditions, v1beta2.UpgradePreflight))
			after := w.objects()
			require.Empty(t, after.Upgrades)
			for name, v := range before.Volumes {
				require.Equal(t, v.Spec, after.Volumes[name].Spec)
			}
			for name, n := range before.Nodes {
				require.Equal(t, n.Spec, after.Nodes[name].Spec)
			}
		})
	}
}

// An upgrade that was refused continues once what stood against it is away and its spec is changed.
func TestARefusedUpgradeGoesOnWhenItsSpecChanges(t *testing.T) {
	w := newWorld(t, func(w *model.World) { w.AddVolume("vol-1", "node-1", "node-1") })
	w.play()
	w.start()
	w.upgrade("upgrade", nil)
	m := w.reaches("upgrade", v1beta2.UpgradeStateError)
	vol := w.objects().Volumes["vol-1"]
	w.detach(vol)
	w.patch(m, `{"spec":{"maxRetries":1}}`)
	w.reaches("upgrade", v1beta2.UpgradeStateCompleted)
	w.upgraded("node-1", "node-2", "node-3")
	require.Equal(t, v1beta2.VolumeStateDetached, w.objects().Volumes["vol-1"].Status.State, "U8: a detached volume is left alone")
}

// U3: a check fails where the instance manager could not pull the image, and nowhere else.
func TestThePodThatTriesAnImagePullsItAsTheInstanceManagerDoes(t *testing.T) {
	for name, c := range map[string]struct{ flag, setting, want string }{
		"with the secret of the setting": {setting: "registry", want: "registry"},
		"with that of the flag":          {flag: "mine", setting: "registry", want: "mine"},
		"without one":                    {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(w *model.World) { w.AddVolume("vol-1", "node-1", "node-1", "node-2", "node-3") })
			w.options.PullSecret = c.flag
			if c.setting != "" {
				w.create(&v1beta2.Setting{ObjectMeta: w.meta(setting.RegistrySecret), Value: c.setting})
			}
			w.start()
			w.upgrade("upgrade", nil)
			var pods corev1.PodList
			w.until("not every node tries the image", func() bool {
				require.NoError(t, w.admin.List(t.Context(), &pods, client.InNamespace(w.namespace)))
				return len(pods.Items) == 3
			})
			var want []corev1.LocalObjectReference
			if c.want != "" {
				want = []corev1.LocalObjectReference{{Name: c.want}}
			}
			for _, pod := range pods.Items {
				require.Equal(t, want, pod.Spec.ImagePullSecrets)
			}
		})
	}
}

// U4: an upgrade does not begin under a backup, and continues by itself once that is done.
func TestAnUpgradeWaitsForABackupThatIsBeingTaken(t *testing.T) {
	w := newWorld(t, func(w *model.World) { w.AddVolume("vol-1", "node-1", "node-1", "node-2", "node-3") })
	b := &v1beta2.Backup{ObjectMeta: w.meta("nightly"), Spec: v1beta2.BackupSpec{SnapshotName: "snap-1"}}
	b.Labels = map[string]string{v1beta2.LabelBackupVolume: "vol-1"}
	w.create(b)
	require.NoError(t, status.MergeStatus(t.Context(), w.admin, b, map[string]any{"state": v1beta2.BackupInProgress}))
	w.play()
	w.start()
	w.upgrade("upgrade", func(s *v1beta2.DataEngineUpgradeManagerSpec) { s.Nodes = []string{"node-1"} })
	w.until("the backup is not named", func() bool {
		preflight := conditions.Get(w.manager("upgrade").Status.Conditions, v1beta2.UpgradePreflight)
		return preflight != nil && strings.Contains(preflight.Message, "volume vol-1: BackingUp: backup nightly is being taken")
	})
	require.Empty(t, w.objects().Upgrades)
	require.NoError(t, status.MergeStatus(t.Context(), w.admin, b, map[string]any{"state": v1beta2.BackupCompleted}))
	w.reaches("upgrade", v1beta2.UpgradeStateCompleted)
}

// detach does what attach-controller does at its user's wish.
func (w *world) detach(v *v1beta2.Volume) {
	w.t.Helper()
	n := &peers{admin: w.admin, namespace: w.namespace}
	w.until("it is never detached", func() bool {
		before := w.objects()
		after := copied(before)
		after.DetachVolume(v.Name)
		require.NoError(w.t, firstError(write(w.t.Context(), n, before.Volumes, after.Volumes),
			write(w.t.Context(), n, before.Engines, after.Engines), write(w.t.Context(), n, before.Replicas, after.Replicas)))
		return w.objects().Volumes[v.Name].Status.State == v1beta2.VolumeStateDetached
	})
}

// U7.
func TestOfTwoUpgradesOneWaits(t *testing.T) {
	w := newWorld(t, succeed["case 1: engines and replicas on one node"])
	w.start()
	w.upgrade("first", nil)
	w.reaches("first", v1beta2.UpgradeStateInitializing)
	w.upgrade("second", nil)
	m := w.reaches("second", v1beta2.UpgradeStateUndefined)
	require.Equal(t, v1beta2.ReasonWaitingForUpgrade, conditions.Reason(m.Status.Conditions, v1beta2.UpgradeProgressing))
	w.play()
	w.reaches("first", v1beta2.UpgradeStateCompleted)
	second := w.reaches("second", v1beta2.UpgradeStateCompleted)
	require.Len(t, second.Status.UpgradedNodes, 3)
}

// U6: paused between nodes, aborted then.
func TestAPausedUpgradeStopsBetweenNodesAndAnAbortedOneEnds(t *testing.T) {
	w := newWorld(t, succeed["case 3: an engine on each node"])
	w.play()
	w.start()
	w.upgrade("upgrade", nil)
	w.until("no node is ever begun", func() bool { return w.manager("upgrade").Status.UpgradingNode != "" })
	m := w.manager("upgrade")
	w.patch(m, `{"spec":{"paused":true}}`)
	// A node that began just before the pause goes on to its end: until it is seen to have begun, the upgrade already reports the pause, and
	// then the node again. So state, reason and nodes are of one moment.
	w.until("it is never paused between nodes", func() bool {
		now := w.manager("upgrade")
		reason := conditions.Reason(now.Status.Conditions, v1beta2.UpgradeProgressing)
		requested := slices.ContainsFunc(slices.Collect(maps.Values(w.objects().Nodes)),
			func(n *v1beta2.Node) bool { return n.Spec.UpgradeRequested })
		return now.Status.State == v1beta2.UpgradeStatePaused && reason == v1beta2.ReasonPaused && !requested
	})
	w.patch(m, `{"spec":{"paused":false,"abort":true}}`)
	aborted := w.reaches("upgrade", v1beta2.UpgradeStateError)
	require.Equal(t, v1beta2.ReasonAborted, conditions.Reason(aborted.Status.Conditions, v1beta2.UpgradeCompleted))
	w.leftNothing()
}

// U4: after the old instance manager is away there is no way but forward; it reports it, and continues when it can.
func TestAnInstanceManagerThatNeverStartsIsWaitedForAndSaid(t *testing.T) {
	w := newWorld(t, succeed["case 1: engines and replicas on one node"])
	stuck := w.play("node-1")
	w.start()
	w.upgrade("upgrade", func(s *v1beta2.DataEngineUpgradeManagerSpec) {
		s.Nodes = []string{"node-1"}
		s.Timeouts = map[string]v1beta2.StateTimeout{v1beta2.UpgradeStateUpgradingInstanceManager: "2s"}
	})
	w.until("it never stalls", func() bool {
		u := w.node("upgrade-node-1")
		return u != nil && u.Status.State == v1beta2.UpgradeStateUpgradingInstanceManager &&
			conditions.IsTrue(u.Status.Conditions, v1beta2.UpgradeStalled)
	})
	w.until("the manager does not report it", func() bool {
		return conditions.IsTrue(w.manager("upgrade").Status.Conditions, v1beta2.UpgradeStalled)
	})
	require.True(t, w.objects().Nodes["node-1"].Spec.UpgradeRequested)
	stuck.reactor.Stop()
	w.play()
	w.reaches("upgrade", v1beta2.UpgradeStateCompleted)
	w.leftNothing()
}

// U5, U6: whoever deletes the upgrade in the middle gets his cluster back.
func TestADeletedUpgradeLeavesNothingBehind(t *testing.T) {
	w := newWorld(t, succeed["case 3: an engine on each node"])
	w.play()
	w.start()
	w.upgrade("upgrade", nil)
	w.until("no target is ever moved", func() bool {
		for _, v := range w.objects().Volumes {
			if v.Spec.TargetNodeID != "" {
				return true
			}
		}
		return false
	})
	require.NoError(t, w.admin.Delete(t.Context(), w.manager("upgrade")))
	w.until("it never goes", func() bool { return w.manager("upgrade") == nil })
	require.Empty(t, w.objects().Upgrades)
	w.leftNothing()
}

// UPG-4 without any object of the upgrade: both objects are removed by force while the controller is down.
func TestAnUpgradeThatIsTakenAwayByForceLeavesNoNodeClosedAndNoTargetAway(t *testing.T) {
	w := newWorld(t, succeed["case 3: an engine on each node"])
	stuck := w.play("node-1") // the upgrade stays where targets are away
	first := w.start()
	w.upgrade("upgrade", func(s *v1beta2.DataEngineUpgradeManagerSpec) { s.Nodes = []string{"node-1"} })
	away := func() bool {
		for _, v := range w.objects().Volumes {
			if v.Spec.TargetNodeID != "" {
				return true
			}
		}
		return false
	}
	w.until("the instance manager is never replaced", func() bool {
		u := w.node("upgrade-node-1")
		return u != nil && u.Status.State == v1beta2.UpgradeStateUpgradingInstanceManager && away()
	})
	first.Stop()
	require.NoError(t, first.Wait())
	require.True(t, w.objects().Nodes["node-1"].Spec.UpgradeRequested)
	for _, obj := range []client.Object{w.node("upgrade-node-1"), w.manager("upgrade")} {
		w.patch(obj, `{"metadata":{"finalizers":null}}`)
		require.NoError(t, w.admin.Delete(t.Context(), obj))
	}
	w.start()
	stuck.reactor.Stop()
	w.play()
	w.until("something is left away or closed", func() bool { return !away() && !w.objects().Nodes["node-1"].Spec.UpgradeRequested })

	w.upgrade("again", nil)
	w.reaches("again", v1beta2.UpgradeStateCompleted)
	w.upgraded("node-1", "node-2", "node-3")
}

// UPG-4 for volumes that were moved or detached before the upgrade that relocated them was removed by force: nothing leads from them to the
// node that is cordoned.
func TestAnUpgradeThatVanishedLeavesNoTargetOnAVolumeThatMovedAway(t *testing.T) {
	w := newWorld(t, func(m *model.World) {
		m.AddVolume("detached", "", "node-1", "node-2")
		m.AddVolume("moved", "node-2", "node-2", "node-3")
		for _, v := range m.Volumes {
			v.Spec.TargetNodeID = "node-3"
		}
		m.Nodes["node-1"].Spec.UpgradeRequested = true
	})
	w.start()
	w.until("something is left", func() bool {
		found := w.objects()
		return found.Volumes["moved"].Spec.TargetNodeID == "" && found.Volumes["detached"].Spec.TargetNodeID == "" &&
			!found.Nodes["node-1"].Spec.UpgradeRequested
	})
	w.until("it is not reported", func() bool { return w.reported("UpgradeVanished", "detached, moved") })
}

// reported reports whether there is an event of a reason whose note contains a text.
func (w *world) reported(reason, text string) bool {
	w.t.Helper()
	var list eventsv1.EventList
	require.NoError(w.t, w.admin.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
	return slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool { return e.Reason == reason && strings.Contains(e.Note, text) })
}

// A planned node that is removed from the cluster while another one is upgraded is left out, and named.
func TestAPlannedNodeThatIsRemovedIsLeftOut(t *testing.T) {
	w := newWorld(t, func(m *model.World) { m.AddVolume("vol-1", "node-1", "node-1", "node-3") })
	stuck := w.play("node-1")
	w.start()
	w.upgrade("upgrade", func(s *v1beta2.DataEngineUpgradeManagerSpec) { s.Nodes = []string{"node-1", "node-2", "node-3"} })
	w.until("the first node is never under way", func() bool {
		u := w.node("upgrade-node-1")
		return u != nil && u.Status.State == v1beta2.UpgradeStateUpgradingInstanceManager
	})
	require.NoError(t, w.admin.Delete(t.Context(), w.objects().Nodes["node-2"]))
	for _, im := range w.objects().Managers {
		if im.Spec.NodeID == "node-2" {
			require.NoError(t, client.IgnoreNotFound(w.admin.Delete(t.Context(), im)))
		}
	}
	stuck.reactor.Stop()
	w.play()
	m := w.reaches("upgrade", v1beta2.UpgradeStateCompleted)
	require.ElementsMatch(t, []string{"node-1", "node-3"}, m.Status.UpgradedNodes)
	require.Equal(t, map[string]string{"node-2": "its Node is gone"}, m.Status.ExcludedNodes)
	require.NotContains(t, m.Status.UpgradeNodes, "node-2")
	w.upgraded("node-1", "node-3")
	w.leftNothing()
}

// A snapshot whose data a linked clone shares stays as long as the clone lives, and an upgrade that is deleted goes all the same. The
// client refuses its deletion, as the webhook of snapshot-controller does.
func TestASnapshotWithALinkedCloneStaysAndHoldsNoUpgrade(t *testing.T) {
	for name, end := range map[string]func(*world, *v1beta2.Volume, string){
		"the clone goes": func(w *world, clone *v1beta2.Volume, snapshot string) {
			require.NoError(w.t, w.admin.Delete(w.t.Context(), clone))
			w.until("the snapshot stays", func() bool { return w.objects().Snapshots[snapshot] == nil })
		},
		"the upgrade goes": func(w *world, _ *v1beta2.Volume, snapshot string) {
			require.NoError(w.t, w.admin.Delete(w.t.Context(), w.manager("upgrade")))
			w.until("it never goes", func() bool { return w.manager("upgrade") == nil && len(w.objects().Upgrades) == 0 })
			require.NotNil(w.t, w.objects().Snapshots[snapshot])
			w.until("there is no event", func() bool { return w.reported("SnapshotsKept", snapshot+" (clone)") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, succeed["case 1: engines and replicas on one node"])
			w.play()
			w.wrap = func(c client.Client) client.Client { return webhook{c} }
			w.start()
			w.upgrade("upgrade", func(s *v1beta2.DataEngineUpgradeManagerSpec) {
				s.Nodes, s.KeepSnapshots = []string{"node-1"}, true
			})
			m := w.reaches("upgrade", v1beta2.UpgradeStateCompleted)
			snapshot := w.node("upgrade-node-1").Status.Volumes["vol-1"].Snapshot
			require.NotEmpty(t, snapshot)
			clone := &v1beta2.Volume{ObjectMeta: w.meta("clone"), Spec: v1beta2.VolumeSpec{DataEngine: v1beta2.DataEngineV2, Size: 1 << 30,
				CloneMode: v1beta2.CloneModeLinked, DataSource: "snap://vol-1/" + snapshot}}
			w.create(clone)
			w.patch(m, `{"spec":{"keepSnapshots":false}}`)
			w.until("it is not reported, or another snapshot stays", func() bool {
				progressing := conditions.Get(w.node("upgrade-node-1").Status.Conditions, v1beta2.UpgradeProgressing)
				return strings.Contains(progressing.Message, snapshot+" (clone)") && len(w.objects().Snapshots) == 1
			})
			end(w, clone, snapshot)
		})
	}
}

// webhook is a client to which the API server refuses the deletion of a snapshot that a volume was cloned from.
type webhook struct{ client.Client }

func (c webhook) Delete(ctx context.Context, obj client.Object, options ...client.DeleteOption) error {
	var volumes v1beta2.VolumeList
	if err := c.List(ctx, &volumes, client.InNamespace(obj.GetNamespace())); err != nil {
		return err
	}
	for _, v := range volumes.Items {
		if strings.HasSuffix(v1beta2.SharedSnapshot(&v), "/"+obj.GetName()) {
			return apierrors.NewForbidden(v1beta2.GroupVersion.WithResource("snapshots").GroupResource(), obj.GetName(),
				errors.New("clones share its data"))
		}
	}
	return c.Client.Delete(ctx, obj, options...)
}
