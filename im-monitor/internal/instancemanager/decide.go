package instancemanager

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
)

// Decide reports what must become of the InstanceManager.
func Decide(w World) Verdict {
	v := decidePod(w)
	v.Connect = w.Pod != nil && w.Pod.Status.PodIP != "" && !PodEnded(w.Pod)
	v.Maps, v.Held = mapChanges(w)
	v.Status = status(w)
	for _, wait := range []time.Duration{recheckIn(w), w.NodeHolds, logsIn(w)} {
		if wait > 0 && (v.After == 0 || wait < v.After) {
			v.After = wait
		}
	}
	v.Events = transitions(w, v)
	return v
}

// decidePod is the list of rules about the pod and the end of the InstanceManager; the first that speaks wins.
func decidePod(w World) Verdict {
	switch {
	// Its end was decided by somebody else; the pod follows its owner.
	case w.InstanceManager.DeletionTimestamp != nil:
		return Verdict{}
	// The machine is gone for good and no one wants its instance manager: what ran there ended with it.
	case abandoned(w) && w.Pod != nil:
		return Verdict{Pod: ForceDeletePod}
	case abandoned(w):
		return Verdict{Remove: true}
	// A node that is down neither starts nor ends pods, and nothing that is seen there now is the truth.
	case w.Kubernetes.Down():
		return Verdict{}
	// Someone is deleting the pod already.
	case deleted(w.Pod):
		return Verdict{}
	// A pod that ended by itself is replaced; restart policy Never leaves that to us.
	case w.Pod != nil && PodEnded(w.Pod):
		return Verdict{Pod: DeletePod, Failed: true}
	// While an upgrade has the node, its v2 instance managers are replaced by the upgrade's rules alone.
	case w.v2() && w.upgraded():
		return upgraded(w)
	case !Wanted(w):
		return retire(w)
	case w.Pod == nil:
		return start(w)
	case outdated(w):
		return replaceWhenIdle(w)
	}
	return Verdict{}
}

// Wanted reports whether the instance manager belongs on its node: the node is kept, the engine enabled there, and the
// image is the default one. With no default image chosen, every image is as good as another.
func Wanted(w World) bool {
	spec := w.InstanceManager.Spec
	return w.Node != nil && w.Node.DeletionTimestamp == nil && w.Kubernetes.Runs(spec.DataEngine, w.Settings) &&
		(w.wantedImage() == "" || spec.Image == w.wantedImage())
}

// abandoned: both the machine and the wish to have it are gone. While the Longhorn Node is kept, the Kubernetes node may
// come back with everything that runs on it.
func abandoned(w World) bool {
	return w.Kubernetes == nil && (w.Node == nil || w.Node.DeletionTimestamp != nil)
}

// upgraded reports whether an upgrade has the node.
func (w World) upgraded() bool { return upgrading(w.Node) || w.Upgrade != nil }

// upgrading is where live upgrades take over: they alone replace v2 instance managers while the node is theirs.
func upgrading(n *v1beta2.Node) bool { return n != nil && n.Spec.UpgradeRequested }

// retire lets an instance manager go that is not wanted any more, once nothing runs on it. An old v2 one whose pod ended
// while something ran is started again with its own image: only an upgrade may move what runs to another image.
func retire(w World) Verdict {
	switch idle := idle(w); {
	case w.Pod == nil && idle == yes:
		return Verdict{Remove: true}
	case w.Pod == nil:
		return start(w)
	case neverRan(w):
		return Verdict{Pod: DeletePod}
	case standsIn(w):
		return Verdict{}
	case idle == yes && w.Unsettled != "":
		return Verdict{After: unsettledPause}
	case idle == yes && w.Inventory.Asked:
		return Verdict{Pod: DeletePod}
	case idle == yes:
		return Verdict{Ask: true}
	}
	return Verdict{}
}

// neverRan reports whether no container of the pod has started, so that nothing can run in it: a list of it is proof that one has,
// which the pod's status may not show yet. A v2 one of which more is remembered has to start: what it left behind needs it.
func neverRan(w World) bool {
	return !w.Inventory.Known && (!w.v2() || remembered(w) == yes) && NeverStarted(w.Pod)
}

// NeverStarted reports whether the status of a pod shows that no container of it has started.
func NeverStarted(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodPending && !slices.ContainsFunc(p.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil
	})
}

// standsIn reports whether new v1 instances of the node run here although another image is wanted: the instance manager of that image does
// not run.
func standsIn(w World) bool {
	kept := w.Node != nil && w.Node.DeletionTimestamp == nil && w.Kubernetes.Runs(w.InstanceManager.Spec.DataEngine, w.Settings)
	return !w.v2() && kept && PodReady(w.Pod) &&
		!slices.ContainsFunc(w.Siblings, func(s Sibling) bool { return s.Image == w.wantedImage() && s.Running })
}

// replaceWhenIdle makes a pod again that was made with settings of the past. A pod whose successor could not start stays.
func replaceWhenIdle(w World) Verdict {
	if neverRan(w) {
		return Verdict{Pod: DeletePod}
	}
	if _, lacks := lacksPages(w); lacks || idle(w) != yes {
		return Verdict{}
	}
	if reason, _ := refusal(w); reason != "" {
		return Verdict{}
	}
	switch {
	case w.Unsettled != "":
		return Verdict{After: unsettledPause}
	case !w.Inventory.Asked:
		return Verdict{Ask: true}
	}
	return Verdict{Pod: DeletePod}
}

// unsettledPause is how long an idle instance manager waits until the volumes of its node are read again.
const unsettledPause = 15 * time.Second

func start(w World) Verdict {
	if reason, _ := refusal(w); reason != "" || blocked(w) {
		return Verdict{}
	}
	if wait := w.RetryAt.Sub(w.Now); wait > 0 {
		return Verdict{After: wait}
	}
	return Verdict{Pod: CreatePod}
}

// blocked reports whether a v2 pod has to wait: a node's huge pages and disks serve one SPDK process. A pod that exists comes
// first, then the instance managers that are to be retired, which end sooner, then the name.
func blocked(w World) bool {
	if !w.v2() {
		return false
	}
	for _, s := range w.Siblings {
		if s.HasPod || before(s, w) && !idles(s, w) {
			return true
		}
	}
	return false
}

// idles reports whether a sibling will not start: its image serves no v2 volumes, or an upgrade has the node, it is not of the upgrade's
// image and never ran.
func idles(s Sibling, w World) bool {
	return managerimage.Describe(s.Image, w.Options.Profiles).Profile == managerimage.Refused ||
		(upgrading(w.Node) || w.Upgrade != nil) && s.New && s.Image != w.wantedImage()
}

func before(s Sibling, w World) bool {
	current := func(image string) bool { return image == w.wantedImage() }
	if own := current(w.InstanceManager.Spec.Image); current(s.Image) != own {
		return own
	}
	return s.Name < w.InstanceManager.Name
}

func deleted(p *corev1.Pod) bool { return p != nil && p.DeletionTimestamp != nil }

// PodEnded reports whether no container of a pod runs any more, or will.
func PodEnded(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// PodReady reports whether a pod runs, and is reported to be ready.
func PodReady(p *corev1.Pod) bool {
	if p == nil || p.DeletionTimestamp != nil || p.Status.Phase != corev1.PodRunning || p.Status.PodIP == "" {
		return false
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// recheckIn is when Reachable may change by time alone: it turns False, and later the silence may have another cause.
func recheckIn(w World) time.Duration {
	if w.Inventory.Known || !PodReady(w.Pod) || w.Inventory.UnknownSince.IsZero() {
		return 0
	}
	if wait := w.Inventory.UnknownSince.Add(patience(w)).Sub(w.Now); wait > 0 {
		return wait
	}
	return w.Options.UnreachableAfter
}

// Roster reports which InstanceManagers a node must have and has not: one for each enabled data engine, of the default
// image, or for v2 of the image that an upgrade brings. Without an image there is none to make. A cordoned node gets a new one only for an
// upgrade.
func Roster(name string, k *node.Kubernetes, n *v1beta2.Node, s setting.Values, u *Upgrade,
	existing map[string]bool) []*v1beta2.InstanceManager {
	if n == nil || n.DeletionTimestamp != nil || k == nil {
		return nil
	}
	var out []*v1beta2.InstanceManager
	for _, engine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		image, upgrading := s.Image, u != nil && engine == v1beta2.DataEngineV2
		if upgrading {
			image = u.Image
		}
		if image != "" && k.Runs(engine, s) && (!k.Cordoned || upgrading) && !existing[v1beta2.InstanceManagerName(name, image, engine)] {
			out = append(out, newInstanceManager(n, image, engine))
		}
	}
	return out
}
