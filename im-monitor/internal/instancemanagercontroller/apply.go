package instancemanagercontroller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// apply makes the verdict true: first the pod, which everything else follows; then where the inventory connects to;
// then the status; the end of the InstanceManager last. Events come after the writes. It returns how long the instance maps
// wait, if they do.
func (s *reconciler) apply(ctx context.Context, w instancemanager.World, v instancemanager.Verdict) (left time.Duration, err error) {
	if err := s.applyPod(ctx, w, v); err != nil {
		return 0, err
	}
	s.connect(w, v)
	if v.Remove {
		err = s.remove(ctx, w.InstanceManager)
	} else {
		left, err = s.applyStatus(ctx, w.InstanceManager, v)
	}
	if err != nil {
		return 0, err
	}
	events.Emit(s.rt.Recorder, w.InstanceManager, v.Events...)
	for _, e := range v.Events {
		s.rt.Log.Info("instance manager: "+e.Action, "name", w.InstanceManager.Name, "node", w.InstanceManager.Spec.NodeID, "reason",
			e.Reason)
	}
	return left, nil
}

func (s *reconciler) applyPod(ctx context.Context, w instancemanager.World, v instancemanager.Verdict) error {
	switch v.Pod {
	case instancemanager.CreatePod:
		if err := s.rt.Client.Create(ctx, instancemanager.PodFor(w)); err != nil {
			return fmt.Errorf("creating pod %s: %w", w.InstanceManager.Name, err)
		}
	case instancemanager.DeletePod:
		if v.Failed {
			s.memory.failed(w.InstanceManager.Name, w.Pod.UID, w.Now)
		}
		return s.deletePod(ctx, w.Pod)
	case instancemanager.ForceDeletePod:
		return s.deletePod(ctx, w.Pod, client.GracePeriodSeconds(0))
	}
	return nil
}

// deletePod deletes exactly the pod that was evaluated. Its resourceVersion is left out on purpose: a kubelet's report in
// between changes nothing about what was evaluated, which is the pod's UID and what runs in it.
func (s *reconciler) deletePod(ctx context.Context, pod *corev1.Pod, options ...client.DeleteOption) error {
	options = append(options, client.Preconditions{UID: &pod.UID})
	if err := s.rt.Client.Delete(ctx, pod, options...); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting pod %s: %w", pod.Name, err)
	}
	s.written.Record(pod)
	return nil
}

func (s *reconciler) connect(w instancemanager.World, v instancemanager.Verdict) {
	if !v.Connect {
		s.store.Remove(w.InstanceManager.Name)
		return
	}
	s.store.Set(target(w))
	for _, name := range v.Held {
		s.store.ExpectAbsence(inventory.Subject{InstanceManager: w.InstanceManager.Name, Name: name, Type: v1beta2.InstanceTypeEngine})
	}
}

// remove deletes an instance manager without a pod. It is a conflict that there is one which the cache does not show yet: a successor,
// which knows its siblings by their objects, would start beside it.
func (s *reconciler) remove(ctx context.Context, im *v1beta2.InstanceManager) error {
	var pods corev1.PodList
	if err := lookup.List(ctx, s.rt.Uncached, im.Namespace, &pods, client.MatchingFields{"metadata.name": im.Name}); err != nil {
		return err
	}
	if len(pods.Items) > 0 {
		return apierrors.NewConflict(v1beta2.GroupVersion.WithResource("instancemanagers").GroupResource(), im.Name,
			errors.New("the cache does not show its pod yet"))
	}
	if err := status.Delete(ctx, s.rt.Client, im); err != nil {
		return err
	}
	s.written.Record(im)
	return nil
}

// applyStatus writes the instance maps by merge patch, only the entries that differ, and the rest, where it differs, by
// server-side apply; the first of the two at the version that was evaluated. It returns how long the maps wait, if they do.
func (s *reconciler) applyStatus(ctx context.Context, im *v1beta2.InstanceManager, v instancemanager.Verdict) (time.Duration, error) {
	at := []status.Option{status.AtVersion()}
	if !v.Maps.Empty() {
		now := s.rt.Clock.Now()
		if left := s.memory.mapsLeft(im.Name, now); left > 0 && !v.Status.Changed(im) {
			return left, nil
		}
		if err := status.MergeStatus(ctx, s.rt.Client, im, mapFields(v.Maps), at...); err != nil {
			return 0, client.IgnoreNotFound(err)
		}
		s.memory.wroteMaps(im.Name, instancesOf(im.Status), now, s.rt.Clock.Now())
		s.written.Record(im)
		at = nil
	}
	return 0, s.applyState(ctx, im, v, at...)
}

func instancesOf(s v1beta2.InstanceManagerStatus) int {
	return len(s.InstanceEngines) + len(s.InstanceEngineFrontends) + len(s.InstanceReplicas)
}

// applyState writes all of the status but the maps.
func (s *reconciler) applyState(ctx context.Context, im *v1beta2.InstanceManager, v instancemanager.Verdict, at ...status.Option) error {
	if !v.Status.Changed(im) {
		return nil
	}
	fields := map[string]any{
		"currentState": v.Status.State, "ip": v.Status.IP,
		"apiVersion": int64(v.Status.Version.API), "apiMinVersion": int64(v.Status.Version.APIMin),
		"proxyApiVersion": int64(v.Status.Version.Proxy), "proxyApiMinVersion": int64(v.Status.Version.ProxyMin),
		"conditions": status.ConditionsField(v.Status.Conditions),
	}
	if err := status.Apply(ctx, s.rt.Client, im, fieldOwner, fields, at...); err != nil {
		return client.IgnoreNotFound(err)
	}
	s.written.Record(im)
	return nil
}

func mapFields(m instancemanager.MapChanges) map[string]any {
	out := map[string]any{}
	add := func(field string, changes map[string]*v1beta2.InstanceProcess) {
		if len(changes) == 0 {
			return
		}
		entries := map[string]any{}
		for name, process := range changes {
			entries[name] = entry(process)
		}
		out[field] = entries
	}
	add("instanceEngines", m.Engines)
	add("instanceEngineFrontends", m.EngineFrontends)
	add("instanceReplicas", m.Replicas)
	return out
}

// entry names every field that is written here, null where it is empty, so that an old value never stays.
func entry(p *v1beta2.InstanceProcess) any {
	if p == nil {
		return nil
	}
	s := p.Status
	return map[string]any{
		"spec": map[string]any{"name": p.Spec.Name, "dataEngine": p.Spec.DataEngine},
		"status": map[string]any{
			"state": s.State, "type": s.Type, "uuid": text(s.UUID), "errorMsg": text(s.ErrorMsg), "endpoint": text(s.Endpoint),
			"portStart": port(s.PortStart), "portEnd": port(s.PortEnd),
			"targetPortStart": port(s.TargetPortStart), "targetPortEnd": port(s.TargetPortEnd),
		},
	}
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func port(p int32) any {
	if p == 0 {
		return nil
	}
	return p
}
