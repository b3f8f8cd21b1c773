package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	sharedsetting "drover.dev/drover/shared/setting"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func world(changes ...func(*World)) World {
	settings := setting.Defaults()
	settings.Image = "im:1"
	w := World{
		Now: now, Name: "node-1", Settings: settings,
		Kubernetes: &Kubernetes{Ready: true, Labels: map[string]string{corev1.LabelTopologyZone: "a", corev1.LabelTopologyRegion: "r"}},
		Node:       &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Finalizers: []string{v1beta2.Finalizer}}},
		Managers:   []Manager{{Name: "im-1", State: v1beta2.InstanceManagerStateRunning, HasPod: true, Answers: v1beta2.ConditionTrue}},
	}
	for _, change := range changes {
		change(&w)
	}
	return w
}

func missing(w *World) { w.Node = nil }
func gone(w *World)    { w.Kubernetes = nil }
func kubeletSilent(w *World) {
	w.Kubernetes.Ready, w.Kubernetes.NotReadyMessage = false, "KubeletStopped: silence"
}
func cordoned(w *World)   { w.Kubernetes.Cordoned = true }
func deleting(w *World)   { w.Node.DeletionTimestamp = &metav1.Time{Time: now} }
func noManagers(w *World) { w.Managers = nil }
func managers(list ...Manager) func(*World) {
	return func(w *World) { w.Managers = list }
}

func TestCreation(t *testing.T) {
	tainted := func(effect corev1.TaintEffect) func(*World) {
		return func(w *World) {
			w.Kubernetes.Taints = []corev1.Taint{{Key: "dedicated", Value: "gpu", Effect: effect}}
		}
	}
	tolerating := func(value string) func(*World) {
		return func(w *World) {
			w.Settings.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: value}}
		}
	}
	tolerations := func(list ...corev1.Toleration) func(*World) {
		return func(w *World) { w.Settings.Tolerations = list }
	}
	cases := []struct {
		name  string
		world World
		made  bool
	}{
		{"a node that takes pods gets a Node", world(missing), true},
		{"a node that is not ready waits", world(missing, kubeletSilent), false},
		{"a cordoned node waits", world(missing, cordoned), false},
		{"no Kubernetes node, no Node", world(missing, gone), false},
		{"a taint that repels pods keeps it out", world(missing, tainted(corev1.TaintEffectNoSchedule)), false},
		{"unless it is tolerated", world(missing, tainted(corev1.TaintEffectNoSchedule), tolerating("gpu")), true},
		{"with the same value", world(missing, tainted(corev1.TaintEffectNoExecute), tolerating("cpu")), false},
		{"a taint that only advises does not", world(missing, tainted(corev1.TaintEffectPreferNoSchedule)), true},
		{"a taint for a condition of the node is Kubernetes' own business", world(missing, func(w *World) {
			w.Kubernetes.Taints = []corev1.Taint{{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoSchedule}}
		}), true},
		{"a node that the selector leaves out gets none",
			world(missing, func(w *World) { w.Settings.NodeSelector = map[string]string{"disk": "ssd"} }), false},
		{"a label of another value leaves it out, too", world(missing, func(w *World) {
			w.Settings.NodeSelector = map[string]string{"disk": "ssd"}
			w.Kubernetes.Labels["disk"] = "hdd"
		}), false},
		{"an empty value is not a missing label", world(missing, func(w *World) {
			w.Settings.NodeSelector = map[string]string{"disk": ""}
		}), false},
		{"a toleration of another effect lets nothing in", world(missing, tainted(corev1.TaintEffectNoSchedule),
			tolerations(corev1.Toleration{Key: "dedicated", Value: "gpu", Effect: corev1.TaintEffectNoExecute})), false},
		{"one of that effect does", world(missing, tainted(corev1.TaintEffectNoSchedule),
			tolerations(corev1.Toleration{Key: "dedicated", Value: "gpu", Effect: corev1.TaintEffectNoSchedule})), true},
		{"so does one of every value", world(missing, tainted(corev1.TaintEffectNoSchedule),
			tolerations(corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpExists})), true},
		{"but none of another key", world(missing, tainted(corev1.TaintEffectNoSchedule),
			tolerations(corev1.Toleration{Key: "owner", Operator: corev1.TolerationOpExists})), false},
		{"each taint has to be tolerated", world(missing, tainted(corev1.TaintEffectNoSchedule), tolerating("gpu"), func(w *World) {
			w.Kubernetes.Taints = append(w.Kubernetes.Taints, corev1.Taint{Key: "owner", Effect: corev1.TaintEffectNoExecute})
		}), false},
		{"one that it chooses does", world(missing, func(w *World) {
			w.Settings.NodeSelector = map[string]string{"disk": "ssd"}
			w.Kubernetes.Labels["disk"] = "ssd"
		}), true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.made, v.Create != nil)
			require.Nil(t, v.Status)
			if c.made {
				require.Equal(t, []string{v1beta2.Finalizer}, v.Create.Finalizers)
				require.True(t, v.Create.Spec.AllowScheduling)
				require.JSONEq(t, `{"path":"/var/lib/longhorn","reservedPercent":30}`, v.Create.Annotations[v1beta2.AnnotationDefaultDisk])
			}
		})
	}
}

func TestANewNodeRequestsNoDefaultDiskIfLabelsDecide(t *testing.T) {
	w := World{Name: "node-1", Kubernetes: &Kubernetes{Ready: true}, Settings: setting.Defaults()}
	w.Settings.DefaultDisk.LabeledOnly = true
	require.Empty(t, Decide(w).Create.Annotations)
}

func TestReady(t *testing.T) {
	running, starting := v1beta2.InstanceManagerStateRunning, v1beta2.InstanceManagerStateStarting
	yes, no, unknown := v1beta2.ConditionTrue, v1beta2.ConditionFalse, v1beta2.ConditionUnknown
	cases := []struct {
		name   string
		world  World
		status v1beta2.ConditionStatus
		reason string
		down   bool
	}{
		{"an instance manager answers", world(), yes, v1beta2.ReasonNodeReady, false},
		{"a new one has not been heard yet", world(managers(Manager{State: running, HasPod: true, Answers: unknown})), yes,
			v1beta2.ReasonNodeReady, false},
		{"one of two answers", world(managers(Manager{State: running, HasPod: true, Answers: no},
			Manager{State: running, HasPod: true, Answers: yes})), yes, v1beta2.ReasonNodeReady, false},
		{"none answers: not ready, not down", world(managers(Manager{State: running, HasPod: true, Answers: no})), no,
			v1beta2.ReasonInstanceManagerUnreachable, false},
		{"none runs", world(managers(Manager{State: starting, HasPod: true})), no, v1beta2.ReasonManagerPodDown, false},
		{"no pod", world(managers(Manager{State: v1beta2.InstanceManagerStateStopped})), no, v1beta2.ReasonManagerPodMissing, false},
		{"no instance manager", world(noManagers), no, v1beta2.ReasonManagerPodMissing, false},
		{"Kubernetes reports not ready, whatever answers", world(kubeletSilent), no, v1beta2.ReasonKubernetesNodeNotReady, true},
		{"Kubernetes reports gone", world(gone), no, v1beta2.ReasonKubernetesNodeGone, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			got := conditions.Get(v.Status.Conditions, v1beta2.NodeReady)
			require.Equal(t, c.status, got.Status)
			require.Equal(t, c.reason, got.Reason)
			require.Len(t, v.Events, 1, "a change of readiness is reported once")
			c.world.Node.Status = v1beta2.NodeStatus{Conditions: v.Status.Conditions, Region: v.Status.Region, Zone: v.Status.Zone,
				DisksReady: v.Status.DisksReady, Storage: v.Status.Storage}
			require.Equal(t, c.down, v1beta2.IsNodeDown(c.world.Node))
			c.world.Now = now.Add(time.Hour)
			require.Equal(t, Verdict{}, Decide(c.world), "deciding again changes nothing")
		})
	}
	require.True(t, v1beta2.IsNodeDown(nil), "a Node that does not exist is down")
	require.False(t, v1beta2.IsNodeDown(&v1beta2.Node{}), "one that was not evaluated is not")
}

func TestScheduling(t *testing.T) {
	reason := func(w World) string { return conditions.Reason(Decide(w).Status.Conditions, v1beta2.NodeSchedulable) }
	require.Equal(t, v1beta2.ReasonSchedulable, reason(world()))
	require.Equal(t, v1beta2.ReasonKubernetesNodeCordoned, reason(world(cordoned)))
	require.Equal(t, v1beta2.ReasonSchedulable, reason(world(cordoned, func(w *World) { w.Settings.DisableSchedulingOnCordoned = false })))
}

func TestRemoval(t *testing.T) {
	waits := func(w World) string { return conditions.Reason(Decide(w).Status.Conditions, v1beta2.NodeRemoved) }
	require.Equal(t, v1beta2.ReasonKubernetesNodeInService, waits(world(deleting, noManagers)), "it would only be made again")
	require.Equal(t, v1beta2.ReasonInstanceManagersRemain, waits(world(deleting, cordoned)))
	require.Equal(t, v1beta2.ReasonInstanceManagersRemain, waits(world(deleting, gone)))
	require.Equal(t, Verdict{DropFinalizer: true}, Decide(world(deleting, cordoned, noManagers)))
	require.Equal(t, Verdict{DropFinalizer: true}, Decide(world(deleting, gone, noManagers)))
	require.Equal(t, Verdict{}, Decide(world(deleting, gone, noManagers, func(w *World) { w.Node.Finalizers = []string{"other"} })),
		"somebody else's finalizer is not ours")
}

func TestAMissingFinalizerIsAdded(t *testing.T) {
	require.True(t, Decide(world(func(w *World) { w.Node.Finalizers = nil })).AddFinalizer)
}

// A25: whether replicas leave a node is for attach-controller to act upon.
func TestReplicasLeaveACordonedNodeThatIsUpByThePolicy(t *testing.T) {
	under := func(p sharedsetting.DrainPolicy) func(*World) { return func(w *World) { w.Settings.DrainPolicy = p } }
	leave := func(w *World) { w.Node.Status.AutoEvicting = true }
	for name, c := range map[string]struct {
		world World
		want  bool
	}{
		"cordoned, all are to leave":               {world(cordoned, under(sharedsetting.BlockForEviction)), true},
		"cordoned, last ones are to leave":         {world(cordoned, under(sharedsetting.BlockForEvictionIfContainsLastReplica)), true},
		"cordoned, under the default":              {world(cordoned, leave), false},
		"it takes pods again":                      {world(leave, under(sharedsetting.BlockForEviction)), false},
		"it is down: its replicas are waited for":  {world(cordoned, leave, kubeletSilent, under(sharedsetting.BlockForEviction)), false},
		"its Kubernetes node is gone":              {world(gone, leave, under(sharedsetting.BlockForEviction)), false},
		"what Longhorn left there is put right":    {world(leave), false},
		"it is being deleted, and replicas remain": {world(cordoned, deleting, under(sharedsetting.BlockForEviction)), true},
	} {
		t.Run(name, func(t *testing.T) {
			v := Decide(c.world)
			require.NotNil(t, v.Status)
			require.Equal(t, c.want, v.Status.AutoEvicting)
			now := &c.world.Node.Status
			now.Conditions, now.Region, now.Zone = v.Status.Conditions, v.Status.Region, v.Status.Zone
			now.DisksReady, now.Storage = v.Status.DisksReady, v.Status.Storage
			now.AutoEvicting = !c.want
			require.NotNil(t, Decide(c.world).Status, "a change of it alone is written")
			now.AutoEvicting = c.want
			require.Nil(t, Decide(c.world).Status)
		})
	}
}

func TestZoneStaysKnownWhenTheKubernetesNodeIsGone(t *testing.T) {
	v := Decide(world(gone, func(w *World) { w.Node.Status.Zone, w.Node.Status.Region = "a", "r" }))
	require.Equal(t, "a", v.Status.Zone)
	require.Equal(t, "r", v.Status.Region)
}

// A23: kubectl get lhn shows disks and space.
func TestANodeSumsUpItsDisks(t *testing.T) {
	const gib = 1 << 30
	status := func(ready v1beta2.ConditionStatus, available, maximum int64) v1beta2.DiskStatus {
		return v1beta2.DiskStatus{StorageAvailable: available, StorageMaximum: maximum,
			Conditions: []v1beta2.Condition{{Type: v1beta2.DiskReady, Status: ready}}}
	}
	w := world(func(w *World) {
		w.Node.Spec.Disks = map[string]v1beta2.DiskSpec{"a": {DiskType: "block"}, "b": {DiskType: "block"}, "c": {DiskType: "block"},
			"d":     {DiskType: "block"},
			"files": {DiskType: "filesystem"}}
		w.Node.Status.DiskStatus = map[string]v1beta2.DiskStatus{"a": status(v1beta2.ConditionTrue, 20*gib+7, 100*gib),
			"b": status(v1beta2.ConditionTrue, 100*gib, 400*gib), "c": status(v1beta2.ConditionFalse, 1000*gib, 1000*gib),
			"gone":  status(v1beta2.ConditionTrue, gib, gib),
			"files": status(v1beta2.ConditionTrue, 7*gib, 7*gib)}
	})
	v := Decide(w)
	require.Equal(t, "3/5", v.Status.DisksReady)
	require.Equal(t, "127Gi/507Gi", v.Status.Storage, "a v1 disk counts with what was last reported")
	w.Node.Status.Conditions, w.Node.Status.Region, w.Node.Status.Zone = v.Status.Conditions, v.Status.Region, v.Status.Zone
	w.Node.Status.DisksReady, w.Node.Status.Storage = v.Status.DisksReady, v.Status.Storage
	require.Nil(t, Decide(w).Status)
	w.Node.Status.DiskStatus["a"] = status(v1beta2.ConditionTrue, 20*gib+8, 100*gib)
	require.Nil(t, Decide(w).Status, "a few bytes are no news")
	w.Node.Status.DiskStatus["a"] = status(v1beta2.ConditionTrue, 19*gib, 100*gib)
	require.Equal(t, "126Gi/507Gi", Decide(w).Status.Storage)
}

// sentence is one condition of a verdict, as people read it.
func sentence(v Verdict, kind string) string {
	c := conditions.Get(v.Status.Conditions, kind)
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

func TestAConditionNamesTheNodeAndWhatHoldsItUp(t *testing.T) {
	two := func(state string, answers v1beta2.ConditionStatus) func(*World) {
		return managers(Manager{Name: "im-2", State: state, HasPod: true, Answers: answers},
			Manager{Name: "im-1", State: state, HasPod: true, Answers: answers})
	}
	running := v1beta2.InstanceManagerStateRunning
	for name, c := range map[string]struct {
		world      World
		kind, want string
	}{
		"ready": {world(two(running, v1beta2.ConditionTrue)), v1beta2.NodeReady,
			"True NodeReady: The Kubernetes node node-1 is ready and 2 of its 2 instance managers answer."},
		"one is silent": {world(managers(Manager{Name: "im-1", State: running, HasPod: true, Answers: v1beta2.ConditionFalse},
			Manager{Name: "im-2", State: running, HasPod: true}, Manager{Name: "im-3"})), v1beta2.NodeReady,
			"True NodeReady: The Kubernetes node node-1 is ready and 1 of its 3 instance managers answer."},
		"gone": {world(gone), v1beta2.NodeReady,
			"False KubernetesNodeGone: No Kubernetes node node-1 exists: add it again, or delete this Node."},
		"kubelet silent": {world(kubeletSilent), v1beta2.NodeReady,
			"False KubernetesNodeNotReady: The Kubernetes node node-1 is not ready (KubeletStopped: silence)."},
		"no pod runs": {world(two(v1beta2.InstanceManagerStateStarting, "")), v1beta2.NodeReady, "False ManagerPodDown: " +
			"No instance-manager pod of node node-1 runs; see the condition PodReady of im-1, im-2."},
		"all are silent": {world(two(running, v1beta2.ConditionFalse)), v1beta2.NodeReady, "False InstanceManagerUnreachable: " +
			"The instance managers of node node-1 run but do not answer; see the condition Reachable of im-1, im-2."},
		"schedulable": {world(), v1beta2.NodeSchedulable, "True Schedulable: Node node-1 is not cordoned."},
		"cordoned": {world(cordoned), v1beta2.NodeSchedulable, "False KubernetesNodeCordoned: " +
			"The Kubernetes node node-1 is cordoned: it gets no new replica until it is uncordoned."},
		"deleted in service": {world(deleting), v1beta2.NodeRemoved, "False KubernetesNodeInService: The Kubernetes node node-1 " +
			"exists and takes pods: drain and cordon it, or delete it; then this Node goes."},
		"deleted with instance managers": {world(deleting, gone, two(running, v1beta2.ConditionTrue)), v1beta2.NodeRemoved,
			"False InstanceManagersRemain: Waiting for instance managers to become empty and go: im-1, im-2. Detach the volumes and " +
				"remove the replicas that still run there."},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, sentence(Decide(c.world), c.kind)) })
	}
}

// written is the world after the status of a verdict was stored.
func written(w World, v Verdict) World {
	n := w.Node.DeepCopy()
	if s := v.Status; s != nil {
		n.Status.Conditions, n.Status.Region, n.Status.Zone = s.Conditions, s.Region, s.Zone
		n.Status.DisksReady, n.Status.Storage, n.Status.AutoEvicting = s.DisksReady, s.Storage, s.AutoEvicting
	}
	w.Node = n
	return w
}

func TestAnEventReportsAChangeOfReadinessAlone(t *testing.T) {
	evaluated := func(changes ...func(*World)) World {
		w := world(changes...)
		return written(w, Decide(w))
	}
	seen := func(before World, changes ...func(*World)) (out []string) {
		for _, change := range changes {
			change(&before)
		}
		for _, e := range Decide(before).Events {
			out = append(out, fmt.Sprintf("%s %s %s: %s", e.Type, e.Reason, e.Action, e.Note))
		}
		return out
	}
	require.Equal(t, []string{"Normal NodeReady JudgeNode: The Kubernetes node node-1 is ready and 1 of its 1 instance managers answer."},
		seen(evaluated(kubeletSilent), func(w *World) { w.Kubernetes.Ready = true }))
	require.Equal(t, []string{"Warning KubernetesNodeGone JudgeNode: No Kubernetes node node-1 exists: add it again, or delete this Node."},
		seen(evaluated(kubeletSilent), gone), "it is not ready for another reason")
	require.Empty(t, seen(evaluated(kubeletSilent), func(w *World) { w.Kubernetes.NotReadyMessage = "KubeletStopped: still" }),
		"another message is no other reason")
	require.Empty(t, seen(evaluated(), cordoned), "a cordon is no change of readiness")
}

func TestANodeReportsWhereKubernetesHasIt(t *testing.T) {
	v := Decide(world())
	require.Equal(t, "a", v.Status.Zone)
	require.Equal(t, "r", v.Status.Region)
	for _, label := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		w := written(world(), v)
		w.Kubernetes.Labels = map[string]string{corev1.LabelTopologyZone: "a", corev1.LabelTopologyRegion: "r", label: "moved"}
		require.NotNil(t, Decide(w).Status, "a move of %s alone is written", label)
	}
}

func TestANodeWithoutDisksReportsNoSpace(t *testing.T) {
	ready, storage := Disks(&v1beta2.Node{})
	require.Empty(t, ready)
	require.Empty(t, storage)
	ready, storage = Disks(&v1beta2.Node{Spec: v1beta2.NodeSpec{Disks: map[string]v1beta2.DiskSpec{"a": {DiskType: v1beta2.DiskTypeBlock}}}})
	require.Equal(t, "0/1", ready, "a disk without a status is not ready")
	require.Equal(t, "0Gi/0Gi", storage)
}

func TestDisksReadyAloneIsAChangeOfTheStatus(t *testing.T) {
	w := world(func(w *World) {
		w.Node.Spec.Disks = map[string]v1beta2.DiskSpec{"a": {DiskType: v1beta2.DiskTypeBlock}}
	})
	w = written(w, Decide(w))
	w.Node.Status.DiskStatus = map[string]v1beta2.DiskStatus{"a": {Conditions: []v1beta2.Condition{{Type: v1beta2.DiskReady,
		Status: v1beta2.ConditionTrue}}}}
	require.Equal(t, "1/1", Decide(w).Status.DisksReady, "its space is less than a GiB")
}

func drawManager(t *rapid.T) Manager {
	return Manager{Name: rapid.SampledFrom([]string{"im-1", "im-2", "im-3"}).Draw(t, "name"), HasPod: rapid.Bool().Draw(t, "has a pod"),
		State: rapid.SampledFrom([]string{"", v1beta2.InstanceManagerStateStopped, v1beta2.InstanceManagerStateStarting,
			v1beta2.InstanceManagerStateRunning, v1beta2.InstanceManagerStateUnknown}).Draw(t, "state"),
		Answers: rapid.SampledFrom([]v1beta2.ConditionStatus{v1beta2.ConditionTrue, v1beta2.ConditionFalse,
			v1beta2.ConditionUnknown}).Draw(t, "answers")}
}

// drawNode is a world with a Longhorn Node that was evaluated in any other world before.
func drawNode(t *rapid.T) World {
	draw := func() World {
		w := world(managers(rapid.SliceOfN(rapid.Custom(drawManager), 0, 3).Draw(t, "managers")...))
		for _, change := range []func(*World){kubeletSilent, cordoned, gone, deleting} {
			if w.Kubernetes != nil && rapid.Bool().Draw(t, "changes") {
				change(&w)
			}
		}
		w.Settings.DrainPolicy = rapid.SampledFrom([]sharedsetting.DrainPolicy{sharedsetting.AlwaysAllow,
			sharedsetting.BlockForEviction}).Draw(t, "policy")
		return w
	}
	before, w := draw(), draw()
	w.Node.Status = written(before, Decide(before)).Node.Status
	return w
}

func TestANodeIsDownExactlyWhereKubernetesReportsThat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawNode(t)
		v := Decide(w)
		if !v.DropFinalizer {
			require.Equal(t, w.Kubernetes.Down(), v1beta2.IsNodeDown(written(w, v).Node))
		}
	})
}

func TestDecidingOnTheWrittenStatusWritesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawNode(t)
		before := w.Node.DeepCopy()
		after := written(w, Decide(w))
		require.Equal(t, before, w.Node, "what was read comes from a cache and stays as it is")
		after.Now = now.Add(time.Hour)
		v := Decide(after)
		require.Nil(t, v.Status)
		require.Empty(t, v.Events)
	})
}

func TestTheOrderOfInstanceManagersChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawNode(t)
		first := Decide(w)
		w.Managers = rapid.Permutation(w.Managers).Draw(t, "another order")
		require.Equal(t, first, Decide(w))
	})
}
