package podrecovery

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
)

var (
	remount = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	zero    time.Time
)

const set, deployed, alone = "apps/StatefulSet", "apps/ReplicaSet", "apps/DaemonSet"

// detached is a pod whose volume was detached under it, long enough ago.
func detached(change func(*Facts)) Facts {
	f := Facts{
		Now: remount.Add(remountPause), Pod: Pod{Node: "n", Controller: set, Started: remount.Add(-time.Second)}, Node: Node{Name: "n"},
		Backend: true,
		Volumes: []Volume{{Name: "v", RemountRequestedAt: remount, Settings: setting.Defaults()}},
	}
	change(&f)
	return f
}

func TestAPodIsDeletedOnceItsVolumeWasDetachedUnderIt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Facts)
		want   Action
		at     time.Time
	}{
		"after 5 s":                       {func(*Facts) {}, ActionDelete, zero},
		"not if none could mount it":      {func(f *Facts) { f.Backend = false }, ActionNone, zero},
		"not before, and then by itself":  {func(f *Facts) { f.Now = f.Now.Add(-time.Nanosecond) }, ActionNone, remount.Add(remountPause)},
		"whatever kind its controller is": {func(f *Facts) { f.Pod.Controller = "kubevirt.io/VM" }, ActionDelete, zero},
		"not without a controller":        {func(f *Facts) { f.Pod.Controller = "" }, ActionNone, zero},
		"not of a kind that is spared": {func(f *Facts) { f.Volumes[0].Settings.SparedControllers = []string{alone, set} }, ActionNone,
			zero},
		"not where the setting is false": {func(f *Facts) { f.Volumes[0].Settings.AutoDeletePod = false }, ActionNone, zero},
		"not one that started later":     {func(f *Facts) { f.Pod.Started = remount.Add(time.Second) }, ActionNone, zero},
		"not one that started then":      {func(f *Facts) { f.Pod.Started = remount }, ActionNone, zero},
		"one that was there when the first was deleted for it": {func(f *Facts) {
			f.Pod.Created, f.Volumes[0].FirstDeletionAt = remount.Add(-time.Second), remount
		}, ActionDelete, zero},
		"not one that was created after that, whatever the clocks show": {func(f *Facts) {
			f.Pod.Created, f.Volumes[0].FirstDeletionAt = remount, remount
		}, ActionNone, zero},
		"not one that has not started":        {func(f *Facts) { f.Pod.Started = zero }, ActionNone, zero},
		"not one that ended":                  {func(f *Facts) { f.Pod.Ended = true }, ActionNone, zero},
		"not one that is nowhere":             {func(f *Facts) { f.Pod.Node = "" }, ActionNone, zero},
		"not one that is being deleted":       {func(f *Facts) { f.Pod.DeletedAt = remount }, ActionNone, zero},
		"not one whose volume was never lost": {func(f *Facts) { f.Volumes[0].RemountRequestedAt = zero }, ActionNone, zero},
		"not one without a Longhorn volume":   {func(f *Facts) { f.Volumes = nil }, ActionNone, zero},
		"not before the share serves":         {func(f *Facts) { f.Volumes[0].Shared = true }, ActionNone, zero},
		"not while the old share serves": {func(f *Facts) { f.Volumes[0].Shared, f.Volumes[0].SharedSince = true, remount },
			ActionNone, zero},
		"once a new share serves": {func(f *Facts) {
			f.Volumes[0].Shared, f.Volumes[0].SharedSince = true,
				remount.Add(time.Second)
		}, ActionDelete, zero},
		"for any of its volumes": {func(f *Facts) {
			f.Volumes = append([]Volume{{Name: "u", Settings: setting.Defaults()}}, f.Volumes...)
		}, ActionDelete, zero},
		"the first of two to come": {func(f *Facts) {
			f.Now = remount
			f.Volumes = append(f.Volumes, Volume{Name: "w", Settings: setting.Defaults(),
				RemountRequestedAt: remount.Add(-time.Millisecond)})
		}, ActionNone, remount.Add(remountPause - time.Millisecond)},
		"the first of two, in whatever order they have": {func(f *Facts) {
			f.Now = remount
			f.Volumes = append([]Volume{{Name: "u", Settings: setting.Defaults(), RemountRequestedAt: remount.Add(-time.Millisecond)}},
				f.Volumes...)
		}, ActionNone, remount.Add(remountPause - time.Millisecond)},
	} {
		t.Run(name, func(t *testing.T) {
			v := Decide(detached(c.change))
			require.Equal(t, c.want, v.Action, v.Why)
			require.Equal(t, c.at, v.At)
			require.NotEmpty(t, v.Why)
			if v.Action == ActionDelete {
				require.Equal(t, []string{"v"}, v.Volumes)
				require.Empty(t, v.Detachments)
			}
		})
	}
}

// leftBehind is a pod that is being deleted on a node that is down, whose grace is over and whose volume is still attached there.
func leftBehind(change func(*Facts)) Facts {
	settings := setting.Defaults()
	settings.NodeDownPolicy = setting.DeleteBothStatefulSetAndDeploymentPod
	down := Node{Name: "n", Down: true}
	f := Facts{
		Now: remount, Pod: Pod{Node: "n", Controller: set, Started: remount.Add(-time.Hour), DeletedAt: remount}, Node: down,
		Volumes: []Volume{{Name: "v", Settings: settings, Attachments: []Attachment{{Name: "a", Node: down}}}},
	}
	change(&f)
	return f
}

func TestAPodOnANodeThatIsDownIsEndedByForceAfterItsVolumesAreFree(t *testing.T) {
	free := func(f *Facts) { f.Volumes[0].Attachments = nil }
	for name, c := range map[string]struct {
		change func(*Facts)
		want   Action
		at     time.Time
	}{
		"its attachments go first": {func(*Facts) {}, ActionDetach, zero},
		"not before its grace is over: it may still write": {func(f *Facts) {
			f.Pod.DeletedAt = remount.Add(time.Minute)
		}, ActionNone, remount.Add(time.Minute)},
		"nor before that of another pod that leaves them": {func(f *Facts) {
			f.Volumes[0].Attachments[0].Users = []User{{Name: "leaves", Leaves: true, Until: remount.Add(time.Minute)}}
		}, ActionNone, remount.Add(time.Minute)},
		"they are waited for": {func(f *Facts) { f.Volumes[0].Attachments[0].Deleting = true }, ActionNone, zero},
		"then it goes":        {free, ActionForceDelete, zero},
		"its grace is waited for": {func(f *Facts) {
			free(f)
			f.Pod.DeletedAt = remount.Add(time.Nanosecond)
		}, ActionNone, remount.Add(time.Nanosecond)},
		"not once it was forced": {func(f *Facts) { free(f); f.Pod.Forced = true }, ActionNone, zero},
		"what another pod there uses stays attached": {func(f *Facts) {
			f.Volumes[0].Attachments[0].Users = []User{{Name: "leaves", Leaves: true}, {Name: "stays"}}
		}, ActionForceDelete, zero},
		"what only leaving pods there use does not": {func(f *Facts) {
			f.Volumes[0].Attachments[0].Users = []User{{Name: "leaves", Leaves: true}}
		}, ActionDetach, zero},
		"what is attached elsewhere is another pod's": {func(f *Facts) { f.Volumes[0].Attachments[0].Node.Name = "m" }, ActionForceDelete,
			zero},
		"not where the node is up": {func(f *Facts) { f.Node.Down = false }, ActionNone, zero},
		"not where Kubernetes calls it ready": {kubernetes(Host{Ready: corev1.ConditionTrue, OutOfService: true}), ActionNone,
			zero},
		"not where Kubernetes does not know yet": {kubernetes(Host{}), ActionNone, zero},
		"where Kubernetes hears nothing of its kubelet": {kubernetes(Host{Ready: corev1.ConditionUnknown, Since: remount}), ActionDetach,
			zero},
		"with the out-of-service taint": {kubernetes(Host{Ready: corev1.ConditionFalse, Since: remount,
			OutOfService: true}), ActionDetach, zero},
		"not where its kubelet was not ready just now": {kubernetes(Host{Ready: corev1.ConditionFalse, Since: remount}), ActionNone,
			remount.Add(v1beta2.KubeletPause)},
		"nor up to 15 s later": {kubernetes(Host{Ready: corev1.ConditionFalse, Since: remount.Add(time.Nanosecond - v1beta2.KubeletPause)}),
			ActionNone, remount.Add(time.Nanosecond)},
		"then it is": {kubernetes(Host{Ready: corev1.ConditionFalse,
			Since: remount.Add(-v1beta2.KubeletPause)}), ActionDetach, zero},
		"not where it is unknown since when":             {kubernetes(Host{Ready: corev1.ConditionFalse}), ActionNone, zero},
		"not without an attachment, either":              {func(f *Facts) { free(f); f.Node.Down = false }, ActionNone, zero},
		"not by default":                                 {func(f *Facts) { f.Volumes[0].Settings = setting.Defaults() }, ActionNone, zero},
		"not one without a controller":                   {func(f *Facts) { f.Pod.Controller = "" }, ActionNone, zero},
		"not one of a DaemonSet, which comes back there": {func(f *Facts) { f.Pod.Controller = alone }, ActionNone, zero},
		"one of a ReplicaSet":                            {func(f *Facts) { f.Pod.Controller = deployed }, ActionDetach, zero},
		"not one of a ReplicaSet where only others may go": {func(f *Facts) {
			f.Pod.Controller = deployed
			f.Volumes[0].Settings.NodeDownPolicy = setting.DeleteStatefulSetPod
		}, ActionNone, zero},
		"not one that is not being deleted":                 {func(f *Facts) { f.Pod.DeletedAt = zero }, ActionNone, zero},
		"not one without a Longhorn volume":                 {func(f *Facts) { f.Volumes = nil }, ActionNone, zero},
		"not where the report of its kubelet is incomplete": {kubernetes(Host{Since: remount.Add(-time.Hour)}), ActionNone, zero},
	} {
		t.Run(name, func(t *testing.T) {
			v := Decide(leftBehind(c.change))
			require.Equal(t, c.want, v.Action, v.Why)
			require.Equal(t, c.at, v.At)
			require.NotEmpty(t, v.Why)
			if v.Action == ActionDetach {
				require.Equal(t, []Detachment{{Attachment: "a", Volume: "v", Why: v.Why}}, v.Detachments)
			}
			if v.Action == ActionForceDelete {
				require.Equal(t, []string{"v"}, v.Volumes)
			}
		})
	}
}

// kubernetes sets the Kubernetes node of the pod.
func kubernetes(h Host) func(*Facts) { return func(f *Facts) { f.Node.Kubernetes = &h } }

// waiting is a pod on another node that waits for a volume whose pod was deleted by force.
func waiting(change func(*Facts)) Facts {
	f := Facts{
		Now: remount, Pod: Pod{Node: "m", Controller: set, Started: remount, Waits: true},
		Volumes: []Volume{{Name: "v", Settings: setting.Defaults(), Attachments: []Attachment{
			{Name: "a", Node: Node{Name: "n", Down: true}}, {Name: "b", Node: Node{Name: "m"}},
		}}},
	}
	change(&f)
	return f
}

func TestWhatNoPodOnANodeThatIsDownUsesIsFreedForAPodThatWaits(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Facts)
		want   Action
	}{
		"by default":                          {func(*Facts) {}, ActionDetach},
		"also without a controller":           {func(f *Facts) { f.Pod.Controller = "" }, ActionDetach},
		"not where the node is up":            {func(f *Facts) { f.Volumes[0].Attachments[0].Node.Down = false }, ActionNone},
		"not where Kubernetes calls it ready": {held(Host{Ready: corev1.ConditionTrue}), ActionNone},
		"not where a pod uses it, even a leaving": {func(f *Facts) {
			f.Volumes[0].Attachments[0].Users = []User{{Name: "p",
				Leaves: true}}
		}, ActionNone},
		"not twice":                           {func(f *Facts) { f.Volumes[0].Attachments[0].Deleting = true }, ActionNone},
		"not where several nodes may have it": {func(f *Facts) { f.Volumes[0].ManyNodes = true }, ActionNone},
		"not for a pod that runs":             {func(f *Facts) { f.Pod.Waits = false }, ActionNone},
		"not on its own node":                 {func(f *Facts) { f.Pod.Node = "n" }, ActionNone},
	} {
		t.Run(name, func(t *testing.T) {
			v := Decide(waiting(c.change))
			require.Equal(t, c.want, v.Action, v.Why)
			if v.Action != ActionNone {
				require.Equal(t, []Detachment{{Attachment: "a", Volume: "v", Why: v.Why}}, v.Detachments)
			}
		})
	}
	v := Decide(waiting(func(f *Facts) {
		f.Backend = true
		f.Pod.Started, f.Volumes[0].RemountRequestedAt = remount.Add(-time.Minute), remount
	}))
	require.Equal(t, ActionDetach, v.Action)
	require.Equal(t, remount.Add(remountPause), v.At, "its other rule is not forgotten")
	v = Decide(waiting(held(Host{Ready: corev1.ConditionFalse, Since: remount.Add(-time.Second)})))
	require.Equal(t, ActionNone, v.Action)
	require.Equal(t, remount.Add(v1beta2.KubeletPause-time.Second), v.At, "the kubelet has 15 s")
}

// held sets the Kubernetes node that holds the volume.
func held(h Host) func(*Facts) {
	return func(f *Facts) { f.Volumes[0].Attachments[0].Node.Kubernetes = &h }
}

// A user who waits reads there which volume, and which setting, keeps the pod.
func TestAVerdictExplainsWhyThePodStays(t *testing.T) {
	for why, f := range map[string]Facts{
		"It is not scheduled, or uses no Longhorn volume.":           detached(func(f *Facts) { f.Pod.Node = "" }),
		"It has ended: it mounts nothing any more.":                  detached(func(f *Facts) { f.Pod.Ended = true }),
		"It has no controller that would create another one.":        detached(func(f *Facts) { f.Pod.Controller = "" }),
		"It has not started.":                                        detached(func(f *Facts) { f.Pod.Started = zero }),
		"No volume was detached under it.":                           detached(func(f *Facts) { f.Pod.Started = remount }),
		"Volume v was detached under it a moment ago.":               detached(func(f *Facts) { f.Now = remount }),
		"The share of volume v does not serve again yet.":            detached(func(f *Facts) { f.Volumes[0].Shared = true }),
		"Its node n is not down: its kubelet ends it.":               leftBehind(func(f *Facts) { f.Node.Down = false }),
		"It was deleted by force, and waits for its finalizers.":     leftBehind(func(f *Facts) { f.Pod.Forced = true }),
		"VolumeAttachment a is not gone yet.":                        leftBehind(func(f *Facts) { f.Volumes[0].Attachments[0].Deleting = true }),
		"node-down-pod-deletion-policy is do-nothing, and its contr": leftBehind(func(f *Facts) { f.Volumes[0].Settings = setting.Defaults() }),
		"Volume v was detached under it, and auto-delete-pod-when-v": detached(func(f *Facts) { f.Volumes[0].Settings.AutoDeletePod = false }),
		"Volume v was detached under it, and the settings spare pods of apps/StatefulSet.": detached(func(f *Facts) {
			f.Volumes[0].Settings.SparedControllers = []string{set}
		}),
		"Volume v was detached, and the pod was created after the first pod was deleted for that.": detached(func(f *Facts) {
			f.Pod.Created, f.Volumes[0].FirstDeletionAt = remount, remount
		}),
		"Its node n is not ready by its kubelet's own report: it is left alone until 2026-08-01T12:00:15Z.": leftBehind(
			kubernetes(Host{Ready: corev1.ConditionFalse, Since: remount})),
		"Its grace, and that of other pods with its volumes, is over at 2026-08-01T12:01:00Z.": leftBehind(func(f *Facts) {
			f.Pod.DeletedAt = remount.Add(time.Minute)
		}),
	} {
		v := Decide(f)
		require.Equal(t, ActionNone, v.Action, why)
		require.Contains(t, v.Why, why)
	}
}

// Its mount is of no use on any node: the volume that it waits for is freed for the pod that replaces it.
func TestAPodThatWaitsIsDeletedFirstIfAVolumeWasDetachedUnderIt(t *testing.T) {
	v := Decide(waiting(func(f *Facts) {
		f.Backend = true
		f.Pod.Started, f.Volumes[0].RemountRequestedAt, f.Now = remount.Add(-time.Second), remount, remount.Add(remountPause)
	}))
	require.Equal(t, ActionDelete, v.Action)
	require.Empty(t, v.Detachments)
}

// anyFacts is a pod with up to three volumes, each attached to up to three nodes.
func anyFacts(t *rapid.T) Facts {
	yes := func(label string) bool { return rapid.Bool().Draw(t, label) }
	at := func(label string) time.Time {
		return rapid.SampledFrom([]time.Time{zero, remount, remount.Add(-3 * time.Second), remount.Add(-10 * time.Second),
			remount.Add(time.Minute)}).Draw(t, label)
	}
	node := func() Node {
		n := Node{Name: rapid.SampledFrom([]string{"n", "m"}).Draw(t, "node"), Down: yes("down")}
		if yes("in Kubernetes") {
			n.Kubernetes = &Host{Ready: rapid.SampledFrom([]corev1.ConditionStatus{"", corev1.ConditionTrue, corev1.ConditionFalse,
				corev1.ConditionUnknown}).Draw(t, "ready"), Since: at("since"), OutOfService: yes("out of service")}
		}
		return n
	}
	f := Facts{Now: remount, Backend: yes("backend"), Node: node()}
	f.Pod = Pod{Node: "n", Controller: rapid.SampledFrom([]string{"", set, alone}).Draw(t, "controller"),
		Started: at("started"), Created: at("created"), Waits: yes("waits"), DeletedAt: at("deleted"), Forced: yes("forced")}
	for i := range rapid.IntRange(1, 3).Draw(t, "volumes") {
		v := Volume{Name: fmt.Sprintf("v-%d", i), Settings: setting.Defaults(), RemountRequestedAt: at("remount"),
			FirstDeletionAt: at("first deletion"), Shared: yes("shared"), SharedSince: at("shared since"), ManyNodes: yes("many nodes")}
		v.Settings.NodeDownPolicy = setting.DeleteStatefulSetPod
		for n := range rapid.IntRange(0, 3).Draw(t, "attachments") {
			a := Attachment{Name: fmt.Sprintf("a-%d-%d", i, n), Node: node(), Deleting: yes("deleting")}
			if yes("used") {
				a.Users = []User{{Name: "other", Leaves: yes("leaves"), Until: at("until")}}
			}
			v.Attachments = append(v.Attachments, a)
		}
		f.Volumes = append(f.Volumes, v)
	}
	return f
}

// The controller decides again at that time, and at no other one as long as nothing else changes.
func TestAVerdictHoldsUntilItsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFacts(t)
		now := Decide(f)
		require.NotEmpty(t, now.Why)
		require.True(t, now.At.IsZero() || now.At.After(f.Now), now.At)
		f.Now = f.Now.Add(time.Duration(rapid.Int64Range(0, int64(2*time.Minute)).Draw(t, "later")))
		if now.At.IsZero() || f.Now.Before(now.At) {
			require.Equal(t, now, Decide(f))
			return
		}
		f.Now = now.At
		then := Decide(f)
		require.NotEqual(t, now, then, "it would wake again at once: %s", then.Why)
	})
}

// A pod that stays on the node of a VolumeAttachment still reads and writes there.
func TestNoVerdictDetachesAVolumeFromAPodThatStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFacts(t)
		v := Decide(f)
		detached := map[string]bool{}
		for _, d := range v.Detachments {
			detached[d.Attachment] = true
		}
		require.Equal(t, v.Action == ActionDetach, len(detached) > 0)
		require.Equal(t, v.Action == ActionDelete || v.Action == ActionForceDelete, len(v.Volumes) > 0)
		for _, volume := range f.Volumes {
			for _, a := range volume.Attachments {
				_, lost := a.Node.lostFrom()
				stays := a.Deleting || len(a.Users) > 0 && !a.Users[0].Leaves || !f.Pod.Leaving() && !lost
				require.False(t, stays && detached[a.Name], a.Name)
			}
		}
	})
}

// Each VolumeAttachment is deleted for its own volume and reason.
func TestEachDetachmentNamesItsVolume(t *testing.T) {
	down := Node{Name: "n", Down: true}
	second := Volume{Name: "w", Settings: setting.Defaults(), Attachments: []Attachment{{Name: "c", Node: Node{Name: "o", Down: true}}}}
	v := Decide(waiting(func(f *Facts) { f.Volumes = append(f.Volumes, second) }))
	require.Equal(t, []Detachment{
		{"a", "v", "Node n is down, no pod there uses volume v any more, and a pod on node m waits for it."},
		{"c", "w", "Node o is down, no pod there uses volume w any more, and a pod on node m waits for it."},
	}, v.Detachments)
	v = Decide(leftBehind(func(f *Facts) {
		second.Settings, second.Attachments = f.Volumes[0].Settings, []Attachment{{Name: "c", Node: down}}
		f.Volumes = append(f.Volumes, second)
	}))
	require.Equal(t, []Detachment{
		{"a", "v", "Node n is down, and a pod there that uses volume v is being deleted."},
		{"c", "w", "Node n is down, and a pod there that uses volume w is being deleted."},
	}, v.Detachments)
}

func TestFactsOfAPod(t *testing.T) {
	yes, none := true, int64(0)
	at := metav1.NewTime(remount)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap"}, {APIVersion: "apps/v1", Kind: "StatefulSet", Controller: &yes},
		}},
		Spec: corev1.PodSpec{NodeName: "n", Volumes: []corev1.Volume{
			{Name: "a", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim"}}},
			{Name: "b", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}, {Name: "c"},
		}},
		Status: corev1.PodStatus{Phase: corev1.PodPending, StartTime: &at},
	}
	require.Equal(t, Pod{Node: "n", Controller: set, Started: remount, Waits: true}, FromPod(pod))
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds, pod.Status.Phase = &at, &none, corev1.PodFailed
	require.Equal(t, Pod{Node: "n", Controller: set, Started: remount, Ended: true, DeletedAt: remount, Forced: true}, FromPod(pod))
	pod.CreationTimestamp = metav1.NewTime(remount.Add(time.Second))
	require.Equal(t, remount.Add(time.Second), FromPod(pod).Started, "a kubelet whose clock is behind accepts no pod before its creation")
	require.Equal(t, remount.Add(time.Second), FromPod(pod).Created)
	pod.CreationTimestamp = metav1.NewTime(remount.Add(-time.Second))
	require.Equal(t, remount, FromPod(pod).Started)
	require.Equal(t, User{Name: "p", Leaves: true}, FromUser(pod), "it has ended")
	pod.Status.Phase = corev1.PodRunning
	require.Equal(t, User{Name: "p", Leaves: true, Until: remount}, FromUser(pod))
	require.Equal(t, Pod{}, FromPod(&corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}))
}

func TestAPodIsForcedOnlyWithAGraceOfZero(t *testing.T) {
	at, none, some := metav1.NewTime(remount), int64(0), int64(30)
	for grace, want := range map[*int64]bool{nil: false, &none: true, &some: false} {
		p := FromPod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &at, DeletionGracePeriodSeconds: grace}})
		require.Equal(t, want, p.Forced)
		require.True(t, p.Leaving())
	}
}

func TestAUserLeavesOnceItEndedOrIsDeleted(t *testing.T) {
	at := metav1.NewTime(remount)
	for phase, ended := range map[corev1.PodPhase]bool{corev1.PodSucceeded: true, corev1.PodFailed: true, corev1.PodRunning: false,
		corev1.PodPending: false, corev1.PodUnknown: false} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
		require.Equal(t, User{Leaves: ended}, FromUser(pod), phase)
		pod.DeletionTimestamp = &at
		u := FromUser(pod)
		require.True(t, u.Leaves, phase)
		require.Equal(t, ended, u.Until.IsZero(), "the grace of a pod that has ended is waited for by nobody: %s", phase)
	}
}

func TestFactsOfANode(t *testing.T) {
	require.Nil(t, FromHost(nil))
	require.Equal(t, &Host{}, FromHost(&corev1.Node{}))
	require.Equal(t, &Host{Ready: corev1.ConditionFalse, Since: remount, OutOfService: true}, FromHost(&corev1.Node{
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: corev1.TaintNodeUnreachable}, {Key: corev1.TaintNodeOutOfService}}},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue},
			{Type: corev1.NodeReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(remount)},
			{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionTrue}}},
	}))
}

func TestFactsOfAVolume(t *testing.T) {
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "v"}}
	require.Equal(t, Volume{Name: "v"}, FromVolume(v, nil))
	v.Status.RemountRequestedAt = "2026-08-01T12:00:00Z"
	require.Equal(t, Volume{Name: "v", RemountRequestedAt: remount}, FromVolume(v, nil))
	v.Status.RemountRequestedAt = "yesterday"
	require.Equal(t, Volume{Name: "v"}, FromVolume(v, nil), "what cannot be read deletes no pod")

	at := metav1.NewTime(remount)
	share := &corev1.Pod{Status: corev1.PodStatus{StartTime: &at}}
	v.Spec.AccessMode = v1beta2.AccessModeReadWriteMany
	require.Equal(t, Volume{Name: "v", Shared: true}, FromVolume(v, share))
	v.Status.ShareState = shareRunning
	require.Equal(t, Volume{Name: "v", Shared: true, SharedSince: remount}, FromVolume(v, share))
	require.Equal(t, Volume{Name: "v", Shared: true}, FromVolume(v, nil))
	share.DeletionTimestamp = &at
	require.Equal(t, Volume{Name: "v", Shared: true}, FromVolume(v, share))
	v.Spec.Migratable, share.DeletionTimestamp = true, nil
	require.Equal(t, Volume{Name: "v"}, FromVolume(v, share), "no pod reaches it through a share")
}

// What a person reads names the volume or node, its times, and why it was decided so.
func TestAnActionNamesItsCauseAndTimes(t *testing.T) {
	require.Equal(t, "Volume v was detached unexpectedly at 2026-08-01T12:00:00Z; the pod, which started at 2026-08-01T11:59:59Z, still "+
		"has the mount of before.", Decide(detached(func(*Facts) {})).Why)
	require.Equal(t, "Node n is down, and the grace of the pod was over at 2026-08-01T12:00:00Z; its controller may create another one.",
		Decide(leftBehind(func(f *Facts) { f.Volumes[0].Attachments = nil })).Why)
}

// The pause of a kubelet ends at its moment, and with the first of two nodes whose pause goes on.
func TestAPauseOfAKubeletEndsAtItsMoment(t *testing.T) {
	node := func(name string, since time.Time) Node {
		return Node{Name: name, Down: true, Kubernetes: &Host{Ready: corev1.ConditionFalse, Since: since}}
	}
	due := remount.Add(v1beta2.KubeletPause)
	left := func(now time.Time) Verdict {
		return Decide(leftBehind(func(f *Facts) { f.Now, f.Node, f.Volumes[0].Attachments = now, node("n", remount), nil }))
	}
	require.Equal(t, due, left(due.Add(-time.Nanosecond)).At)
	require.Equal(t, ActionNone, left(due.Add(-time.Nanosecond)).Action)
	require.Equal(t, ActionForceDelete, left(due).Action)
	require.Zero(t, left(due).At)

	waits := func(now time.Time, sinces ...time.Time) Verdict {
		return Decide(waiting(func(f *Facts) {
			f.Now, f.Volumes[0].Attachments = now, nil
			for i, since := range sinces {
				f.Volumes[0].Attachments = append(f.Volumes[0].Attachments,
					Attachment{Name: fmt.Sprintf("a%d", i), Node: node(fmt.Sprintf("n%d", i), since)})
			}
		}))
	}
	second := remount.Add(time.Second)
	require.Equal(t, due, waits(remount, remount, second).At)
	require.Equal(t, due, waits(remount, second, remount).At, "in whatever order they are listed")
	v := waits(due, remount, second)
	require.Equal(t, ActionDetach, v.Action)
	require.Len(t, v.Detachments, 1, "the pause of the other one goes on")
	require.Equal(t, second.Add(v1beta2.KubeletPause), v.At)
	require.Len(t, waits(second.Add(v1beta2.KubeletPause), remount, second).Detachments, 2)
}

// Positive evidence alone ends a pod by force: of a node that Kubernetes has, but of which it reports nothing, no time is known.
func TestWhatIsNotKnownOfANodeFreesNothing(t *testing.T) {
	for sentence, host := range map[string]*Host{
		"it has no Ready condition":           {},
		"it is not ready, since no one knows": {Ready: corev1.ConditionFalse},
		"it is ready, as Kubernetes reports":  {Ready: corev1.ConditionTrue},
		"it is ready although out of service": {Ready: corev1.ConditionTrue, OutOfService: true},
		"it has a status of a newer version":  {Ready: "Perhaps", Since: remount.Add(-time.Hour)},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := Decide(leftBehind(func(f *Facts) {
				f.Node.Kubernetes, f.Volumes[0].Attachments = host, nil
			}))
			require.Equal(t, Verdict{Why: "Its node n is not down: its kubelet ends it."}, v)
		})
	}
	other := &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: corev1.TaintNodeUnreachable}}}}
	require.False(t, FromHost(other).OutOfService, "another taint declares nothing about the machine")
}
