package kubelet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"drover.dev/drover/im-monitor/simulator/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
)

// watchSets prepares the watches of the DaemonSets of engine images and of the nodes.
func (k *Kubelet) watchSets() {
	sets := informers.NewSharedInformerFactoryWithOptions(k.client, 0, informers.WithNamespace(k.options.Namespace),
		informers.WithTweakListOptions(func(l *metav1.ListOptions) {
			l.LabelSelector = v1beta2.LabelComponent + "=" + v1beta2.ComponentEngineImage
		}))
	nodes := informers.NewSharedInformerFactory(k.client, 0)
	k.sets, k.nodes = sets.Apps().V1().DaemonSets().Lister().DaemonSets(k.options.Namespace), nodes.Core().V1().Nodes().Lister()
	sets.Apps().V1().DaemonSets().Informer()
	nodes.Core().V1().Nodes().Informer()
	k.cluster = []informers.SharedInformerFactory{sets, nodes}
}

// followSets queues a DaemonSet that changes, and all of them if a node comes, goes, or takes other pods than before.
func (k *Kubelet) followSets() error {
	if _, err := k.cluster[0].Apps().V1().DaemonSets().Informer().AddEventHandler(handler(k.setQueue)); err != nil {
		return fmt.Errorf("watching daemon sets: %w", err)
	}
	all := func(any) {
		sets, _ := k.sets.List(labels.Everything())
		for _, set := range sets {
			k.setQueue.Add(set.Name)
		}
	}
	_, err := k.cluster[1].Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: all, DeleteFunc: all, UpdateFunc: func(before, after any) {
			b, a := before.(*corev1.Node), after.(*corev1.Node)
			if !equality.Semantic.DeepEqual(b.Labels, a.Labels) || !equality.Semantic.DeepEqual(b.Spec.Taints, a.Spec.Taints) {
				all(after)
			}
		}})
	if err != nil {
		return fmt.Errorf("watching nodes: %w", err)
	}
	return nil
}

// onPodOfSet queues the DaemonSet of a pod that is gone.
func (k *Kubelet) onPodOfSet() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{DeleteFunc: func(object any) {
		if last, unknown := object.(cache.DeletedFinalStateUnknown); unknown {
			object = last.Obj
		}
		if pod, ok := object.(*corev1.Pod); ok && component(pod) == v1beta2.ComponentEngineImage {
			for _, owner := range pod.OwnerReferences {
				k.setQueue.Add(owner.Name)
			}
		}
	}}
}

// hears reports whether a node runs and is reached; a node that is not here does neither.
func (k *Kubelet) hears(node string) bool {
	state, known := k.options.Machine.NodeState(node)
	return known && state == machine.Up
}

// reconcileSet plays the DaemonSet controller and the scheduler: each node that the pods may run on gets one of the present template, after
// an older one has ended there; all others are deleted.
func (k *Kubelet) reconcileSet(ctx context.Context, name string) error {
	set, err := k.sets.Get(name)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("reading daemon set %s: %w", name, err)
	}
	pods, err := k.pods.List(labels.SelectorFromSet(labels.Set{v1beta2.LabelComponent: v1beta2.ComponentEngineImage}))
	if err != nil {
		return fmt.Errorf("listing the pods of daemon set %s: %w", name, err)
	}
	wanted := map[string]bool{}
	if err == nil && set != nil && set.DeletionTimestamp == nil {
		nodes, err := k.nodes.List(labels.Everything())
		if err != nil {
			return fmt.Errorf("listing nodes: %w", err)
		}
		for _, n := range nodes {
			if _, simulated := k.options.Machine.NodeState(n.Name); simulated && takes(n, &set.Spec.Template.Spec) {
				wanted[n.Name] = true
			}
		}
	}
	for _, pod := range pods {
		if !slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "DaemonSet" && o.Name == name }) {
			continue
		}
		if set != nil && wanted[pod.Spec.NodeName] && pod.Labels[appsv1.ControllerRevisionHashLabelKey] == revision(set) {
			delete(wanted, pod.Spec.NodeName)
			continue
		}
		delete(wanted, pod.Spec.NodeName) // the end of the old one brings the new one
		if err := k.endPodOfSet(ctx, pod); err != nil {
			return err
		}
	}
	for node := range wanted {
		_, err := k.client.CoreV1().Pods(set.Namespace).Create(ctx, podOfSet(set, node), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating a pod of daemon set %s on node %s: %w", name, node, err)
		}
	}
	return nil
}

// endPodOfSet deletes a pod; on a node that is gone nobody ends it gracefully.
func (k *Kubelet) endPodOfSet(ctx context.Context, pod *corev1.Pod) error {
	options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))}
	if _, here := k.options.Machine.NodeState(pod.Spec.NodeName); !here {
		options.GracePeriodSeconds = new(int64)
	} else if pod.DeletionTimestamp != nil {
		return nil
	}
	err := k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, options)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting pod %s: %w", pod.Name, err)
	}
	return nil
}

// ofDaemonSets are what pods of DaemonSets tolerate beside their template.
var ofDaemonSets = []corev1.Toleration{
	// The API server gives it to each new node, and nobody here takes it away again.
	{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists},
	{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
	{Key: corev1.TaintNodeDiskPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodeMemoryPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodePIDPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
}

// takes reports whether a node takes the pods of a template.
func takes(n *corev1.Node, spec *corev1.PodSpec) bool {
	if !labels.SelectorFromSet(spec.NodeSelector).Matches(labels.Set(n.Labels)) {
		return false
	}
	tolerated := slices.Concat(spec.Tolerations, ofDaemonSets)
	return !slices.ContainsFunc(n.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Effect != corev1.TaintEffectPreferNoSchedule && !slices.ContainsFunc(tolerated, func(t corev1.Toleration) bool {
			return (t.Effect == "" || t.Effect == taint.Effect) && (t.Key == "" || t.Key == taint.Key) &&
				(t.Operator == corev1.TolerationOpExists || t.Value == taint.Value)
		})
	})
}

// revision names the template of a DaemonSet.
func revision(set *appsv1.DaemonSet) string { return hash(set.Spec.Template) }

func hash(of any) string {
	raw, err := json.Marshal(of)
	if err != nil {
		panic("a template of plain fields cannot be rendered: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:5])
}

// podOfSet returns the pod of a DaemonSet on a node. Its name follows from both and the template, so that it is created once.
func podOfSet(set *appsv1.DaemonSet, node string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: *set.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = set.Namespace, set.Name+"-"+hash([]string{string(set.UID), node, revision(set)})[:5]
	pod.Labels[appsv1.ControllerRevisionHashLabelKey] = revision(set)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}
	pod.Spec.NodeName, pod.Spec.Tolerations = node, slices.Concat(pod.Spec.Tolerations, ofDaemonSets)
	return pod
}
