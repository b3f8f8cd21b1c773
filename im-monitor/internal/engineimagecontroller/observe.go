package engineimagecontroller

import (
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/engineimage"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// observe reads everything about one EngineImage from the caches.
func (s *reconciler) observe(ctx context.Context, name string) (engineimage.World, error) {
	w := engineimage.World{Now: s.rt.Clock.Now(), Options: s.options, Name: name, RetryAt: s.memory.retryAt(name)}
	var err error
	if w.Settings, err = s.settings.Current(ctx); err != nil {
		return w, err
	}
	if w.Image, err = lookup.Get(ctx, s.rt.Client, s.rt.Namespace, name, &v1beta2.EngineImage{}); err != nil || w.Image == nil {
		return w, err
	}
	if w.DaemonSet, err = lookup.Get(ctx, s.rt.Client, s.rt.Namespace, engineimage.DaemonSetName(name), &appsv1.DaemonSet{}); err != nil {
		return w, err
	}
	if w.VersionPod, err = lookup.Shared(ctx, s.pods, s.rt.Namespace, engineimage.VersionPodName(name), &corev1.Pod{}); err != nil {
		return w, err
	}
	if w.Pods, err = s.podsOf(ctx, name); err != nil {
		return w, err
	}
	if w.Nodes, err = s.nodes(ctx); err != nil {
		return w, err
	}
	w.References, err = s.references(ctx, w)
	return w, err
}

// podsOf returns the pods of the DaemonSet of an EngineImage. A pod that is being deleted is about to remove the binary.
func (s *reconciler) podsOf(ctx context.Context, name string) (out []engineimage.Pod, err error) {
	var list corev1.PodList
	if err := lookup.ListShared(ctx, s.pods, s.rt.Namespace, &list, client.MatchingLabels{
		v1beta2.LabelComponent: v1beta2.ComponentEngineImage, v1beta2.LabelEngineImage: name}); err != nil {
		return nil, err
	}
	for i := range list.Items {
		facts := podFacts(&list.Items[i])
		out = append(out, engineimage.Pod{Name: list.Items[i].Name, Node: facts.Node, Ready: facts.Ready, Problem: facts.Problem})
	}
	slices.SortFunc(out, func(a, b engineimage.Pod) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// facts are the parts of a pod that matter: whether it is ready, and the end of a pod that reads versions.
type facts struct {
	Node, Problem, Message string
	Phase                  corev1.PodPhase
	Ready                  bool
}

func podFacts(pod *corev1.Pod) facts {
	f := facts{Node: pod.Spec.NodeName, Phase: pod.Status.Phase}
	f.Ready = pod.DeletionTimestamp == nil && f.Phase == corev1.PodRunning && len(pod.Status.ContainerStatuses) > 0
	for _, c := range pod.Status.ContainerStatuses {
		f.Ready = f.Ready && c.Ready
		switch {
		case c.State.Waiting != nil:
			f.Problem = strings.TrimSuffix(c.State.Waiting.Reason+" "+c.State.Waiting.Message, " ")
		case c.State.Terminated != nil:
			f.Problem, f.Message = c.State.Terminated.Reason, c.State.Terminated.Message
		}
	}
	switch {
	case pod.DeletionTimestamp != nil:
		f.Problem = "it is being deleted"
	case !f.Ready && f.Problem == "" && f.Phase == corev1.PodRunning:
		f.Problem = "its readiness probe does not find the binary"
	case !f.Ready && f.Problem == "":
		f.Problem = string(f.Phase)
	}
	return f
}

// nodes returns the Longhorn Nodes.
func (s *reconciler) nodes(ctx context.Context) (out []engineimage.Node, err error) {
	var list v1beta2.NodeList
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &list); err != nil {
		return nil, err
	}
	for i := range list.Items {
		n := &list.Items[i]
		kubernetes, err := lookup.Shared(ctx, s.rt.Client, "", n.Name, &corev1.Node{})
		if err != nil {
			return nil, err
		}
		one := engineimage.Node{Name: n.Name, Ready: isReady(n) && kubernetes != nil}
		if kubernetes != nil {
			one.Labels = kubernetes.Labels
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b engineimage.Node) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
