package instancecontroller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// places finds the instance manager that runs the instance, or must, and all others that list its name.
func (s *base) places(ctx context.Context, key Key, w *instance.World) error {
	if err := s.findHere(ctx, key, w); err != nil {
		return err
	}
	here := ""
	if w.Here != nil {
		here = w.Here.InstanceManager
	}
	for _, other := range s.store.Holders(key.Name) {
		if other == here {
			continue
		}
		place := s.place(key, other, &instance.World{})
		var at instance.Node
		if _, err := s.nodeFacts(ctx, place.Node, &at); err != nil {
			return err
		}
		place.Out, place.UsedBy = at.Out(), s.usedBy(key, other)
		if place.Entry != nil && !duplicate(w.Here, &place) {
			w.Elsewhere = append(w.Elsewhere, place)
		}
	}
	return nil
}

// findHere finds the instance manager that runs the instance, or must.
func (s *base) findHere(ctx context.Context, key Key, w *instance.World) error {
	name := w.Status.InstanceManager
	im, left, err := s.manager(ctx, name)
	if w.Here = left; err != nil || left != nil {
		return err
	}
	w.HereGone = im == nil && name != ""
	if im == nil && w.Object.NodeID != "" {
		if im, w.NoPlace, err = s.serving(ctx, w.Object.NodeID, w.Object.DataEngine); err != nil {
			return err
		}
	}
	if im != nil {
		w.Here = s.here(key, im, w)
	}
	return nil
}

// manager finds an instance manager. Of one without an object nothing is known while its pod has not ended, which the deletion of its owner
// does not end at once, or never: that is left. Where both are nil, what it ran ended with it.
func (s *base) manager(ctx context.Context, name string) (im *v1beta2.InstanceManager, left *instance.Place, err error) {
	im, err = lookup.Shared(ctx, s.rt.Client, s.rt.Namespace, name, &v1beta2.InstanceManager{})
	if im != nil || err != nil {
		return im, nil, err
	}
	pod, err := lookup.Shared(ctx, s.rt.Client, s.rt.Namespace, name, &corev1.Pod{})
	if err != nil || pod == nil || instancemanager.PodEnded(pod) {
		return nil, nil, err
	}
	return nil, &instance.Place{InstanceManager: name, Node: pod.Spec.NodeName, PodOnly: true}, nil
}

// here is what is known of the instance manager that runs the instance, or must.
func (s *base) here(key Key, im *v1beta2.InstanceManager, w *instance.World) *instance.Place {
	place := s.place(key, im.Name, w)
	place.Node, place.IP, place.Image = im.Spec.NodeID, im.Status.IP, im.Spec.Image
	place.Running = im.Status.CurrentState == v1beta2.InstanceManagerStateRunning
	place.Unheard = !place.Known && place.Running && !s.store.Heard(im.Name)
	pod := conditions.Get(im.Status.Conditions, v1beta2.InstanceManagerPodReady)
	place.PodMissing = pod != nil && v1beta2.LacksPod(pod.Reason)
	if pod != nil && (pod.Reason == v1beta2.ReasonPodCannotStart || pod.Reason == v1beta2.ReasonPodRefused) {
		place.CannotStart = pod.Message
	}
	return &place
}

// usedBy names what an instance manager lists that uses an instance of the name there.
func (s *base) usedBy(key Key, instanceManager string) string {
	snapshot, known := s.store.Latest(instanceManager)
	if !known || key.Kind == v1beta2.InstanceTypeEngineFrontend {
		return ""
	}
	for name, i := range snapshot.Instances.All() {
		_, maps := i.Replicas[key.Name]
		leads := i.Frontend != nil && (i.Frontend.EngineName == key.Name ||
			slices.ContainsFunc(i.Frontend.Paths, func(p imclient.Path) bool { return p.EngineName == key.Name }))
		if key.Kind == v1beta2.InstanceTypeEngine && leads || key.Kind == v1beta2.InstanceTypeReplica && maps {
			return i.Type + " " + name
		}
	}
	return ""
}

// duplicate reports whether two lists show the same instance: one of the addresses leads to the other's server.
func duplicate(here *instance.Place, other *instance.Place) bool {
	return here != nil && here.Entry != nil && here.Entry.UUID != "" && here.Entry.UUID == other.Entry.UUID
}

// serving is the instance manager that takes what must run on a node. Where there is none, the sentence reports why.
func (s *base) serving(ctx context.Context, nodeName, dataEngine string) (*v1beta2.InstanceManager, string, error) {
	var list v1beta2.InstanceManagerList
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &list, client.MatchingFields{kube.FieldNode: nodeName}); err != nil {
		return nil, "", err
	}
	image := ""
	if dataEngine == v1beta2.DataEngineV1 {
		values, err := s.settings.Current(ctx)
		if err != nil {
			return nil, "", err
		}
		image = values.Image
	}
	var candidates []*v1beta2.InstanceManager
	for i := range list.Items {
		if im := &list.Items[i]; serves(im, dataEngine) {
			candidates = append(candidates, im)
		}
	}
	im, problem := choose(candidates, image)
	if problem != "" {
		problem = fmt.Sprintf("Node %s %s", nodeName, fmt.Sprintf(problem, dataEngine))
	}
	return im, problem, nil
}

// serves reports whether an instance manager takes instances of a data engine.
func serves(im *v1beta2.InstanceManager, dataEngine string) bool {
	own := im.Spec.DataEngine
	if own == "" {
		own = v1beta2.DataEngineV1
	}
	return own == dataEngine && (im.Spec.Type == "" || im.Spec.Type == v1beta2.InstanceManagerTypeAIO)
}

// choose takes, of the instance managers of a node and data engine, v1 the default image's and v2 the only one or the one that runs. While
// the default image's cannot run anything, as where its image cannot be pulled, v1 takes another one that runs. One that merely does not
// answer may still run what another one would start over the same data.
func choose(candidates []*v1beta2.InstanceManager, image string) (*v1beta2.InstanceManager, string) {
	wanted := slices.DeleteFunc(slices.Clone(candidates),
		func(im *v1beta2.InstanceManager) bool { return image != "" && im.Spec.Image != image })
	if len(wanted) == 1 && running(wanted[0]) {
		return wanted[0], ""
	}
	substitutes := slices.DeleteFunc(slices.Clone(candidates), func(im *v1beta2.InstanceManager) bool { return !running(im) })
	switch {
	case image != "" && len(substitutes) > 0 && !slices.ContainsFunc(wanted, mayRun):
		return slices.MinFunc(substitutes, func(a, b *v1beta2.InstanceManager) int { return strings.Compare(a.Name, b.Name) }), ""
	case len(wanted) == 1:
		return wanted[0], ""
	case len(substitutes) == 1:
		return substitutes[0], ""
	case len(substitutes) > 1:
		return nil, "has two %s instance managers that run; it must have one."
	}
	return nil, "has no %s instance manager that runs."
}

// mayRun reports whether processes may be there although the instance manager does not report that it runs: its pod is not known never to
// have begun.
func mayRun(im *v1beta2.InstanceManager) bool {
	c := conditions.Get(im.Status.Conditions, v1beta2.InstanceManagerPodReady)
	return c == nil || c.Status != v1beta2.ConditionFalse || c.Reason != v1beta2.ReasonPodCannotStart &&
		!v1beta2.LacksPod(c.Reason)
}

func running(im *v1beta2.InstanceManager) bool {
	return im.Status.CurrentState == v1beta2.InstanceManagerStateRunning
}

// place is what the newest whole list of an instance manager reports about a name.
func (s *base) place(key Key, instanceManager string, w *instance.World) instance.Place {
	out := instance.Place{InstanceManager: instanceManager}
	snapshot, known := s.store.Latest(instanceManager)
	if !known {
		return out
	}
	out.Known, out.Node, out.Since, out.Address = true, snapshot.Node, startedBefore(snapshot), snapshot.Address
	if i, ok := snapshot.Instances.Find(key.Name); ok {
		out.Entry = entryOf(i)
		return out
	}
	if w.Status.Begun() || w.OverData() {
		out.Absent, out.Ended = s.absent(key, s.subject(key, instanceManager, w), snapshot)
		if !out.Absent && key.Kind == v1beta2.InstanceTypeReplica && w.Object.DataEngine == v1beta2.DataEngineV2 {
			out.Unloaded = s.store.Unloaded(instanceManager, w.Object.Replica.DiskID)
		}
	}
	return out
}

// startedBefore is when a server had started: its container by the clock of its node, and where that is ahead, the connection to it by our
// own.
func startedBefore(list *inventory.Snapshot) time.Time {
	if started := list.Epoch.ContainerStarted; started.Before(list.EpochSince) {
		return started
	}
	return list.EpochSince
}

// subject is the instance whose absence is asked for, since the newest list lacks it. If it was started, that list may be older than its
// start: another leader may have started it and reported that since. Only what begins after this process found both is proof.
func (s *base) subject(key Key, instanceManager string, w *instance.World) inventory.Subject {
	out := inventory.Subject{InstanceManager: instanceManager, Name: key.Name, UUID: w.Status.UUID, Type: key.Kind,
		DiskUUID: w.Object.Replica.DiskID}
	if w.Status.Started {
		now := s.rt.Clock.Now()
		out.Since = s.attempts.Change(key, func(t *attempt) { t.miss(w.Status.UUID, now) }).missedAt
	}
	return out
}

// absent asks for the proof that a name is not there. After a deletion of our own less is needed; while a creation is under way, and until
// a list is younger than it, nothing is proof.
func (s *base) absent(key Key, subject inventory.Subject, snapshot *inventory.Snapshot) (absent, ended bool) {
	t := s.attempts.Of(key)
	if t.creating || snapshot.Began.Before(t.created) {
		return false, false
	}
	if t.deletion != nil && t.deletion.InstanceManager == subject.InstanceManager && s.store.AbsentAfter(*t.deletion) {
		return true, true
	}
	return s.store.Absent(subject), false
}

func entryOf(i inventory.Instance) *instance.Entry {
	out := &instance.Entry{Type: i.Type, State: i.State, UUID: i.UUID, DiskUUID: i.DiskUUID, Error: i.ErrorMsg, Endpoint: i.Endpoint,
		Port: int(i.PortStart)}
	if f := i.Frontend; f != nil {
		out.UblkID, out.EngineName, out.ActivePath, out.PreferredPath = f.UblkID, f.EngineName, f.ActivePath, f.PreferredPath
		for _, p := range f.Paths {
			out.Paths = append(out.Paths, v1beta2.NvmeTCPPath{ANAState: p.ANAState, EngineName: p.EngineName, NGUID: p.NGUID, NQN: p.NQN,
				TargetIP: p.TargetIP, TargetPort: int(p.TargetPort)})
		}
	}
	return out
}
