package runkit

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"drover.dev/drover/shared/takeover"
)

// peer knows whether a longhorn-manager pod runs in the namespace. It exists only once it has read a first list.
type peer struct {
	mutex   sync.Mutex
	running map[string]bool
	appear  func(error) // called at each change that leaves a longhorn-manager running
	alone   func()      // called at each change that leaves none
}

// watchPeer returns once the first list was read; the watch ends with ctx.
func watchPeer(ctx context.Context, config *rest.Config, namespace string, log logr.Logger, appear func(error)) (*peer, error) {
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building the client that searches for longhorn-manager pods: %w", err)
	}
	managers := cache.NewFilteredListWatchFromClient(core.RESTClient(), "pods", namespace,
		func(o *metav1.ListOptions) { o.LabelSelector = takeover.ManagerPods.String() })
	informer := cache.NewSharedIndexInformer(managers, &corev1.Pod{}, 0, cache.Indexers{})
	if err := informer.SetTransform(podPhaseOnly); err != nil {
		return nil, fmt.Errorf("watching longhorn-manager pods: %w", err)
	}
	n := &peer{running: map[string]bool{}, appear: appear}
	handle, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { n.see(obj.(*corev1.Pod)) },
		UpdateFunc: func(_, obj any) { n.see(obj.(*corev1.Pod)) },
		DeleteFunc: n.forget,
	})
	if err != nil {
		return nil, fmt.Errorf("watching longhorn-manager pods: %w", err)
	}
	go informer.RunWithContext(ctx)
	log.V(1).Info("searching for longhorn-manager pods", "namespace", namespace)
	if !cache.WaitForCacheSync(ctx.Done(), handle.HasSynced) {
		return nil, context.Cause(ctx)
	}
	return n, nil
}

func podPhaseOnly(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion},
		Status:     corev1.PodStatus{Phase: pod.Status.Phase},
	}, nil
}

func (n *peer) see(pod *corev1.Pod) {
	n.mutex.Lock()
	if pod.Status.Phase == corev1.PodRunning {
		n.running[pod.Name] = true
	} else {
		delete(n.running, pod.Name)
	}
	n.mutex.Unlock()
	n.report()
}

func (n *peer) report() {
	n.mutex.Lock()
	alone := n.alone
	n.mutex.Unlock()
	switch err := n.Err(); {
	case err != nil && n.appear != nil:
		n.appear(err)
	case err == nil && alone != nil:
		alone()
	}
}

// whenAlone calls do now and later, whenever no longhorn-manager runs.
func (n *peer) whenAlone(do func()) {
	n.mutex.Lock()
	n.alone = do
	n.mutex.Unlock()
	n.report()
}

func (n *peer) forget(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	if pod, ok := obj.(*corev1.Pod); ok {
		n.mutex.Lock()
		delete(n.running, pod.Name)
		n.mutex.Unlock()
		n.report()
	}
}

// Err explains why this binary must not write, or nil.
func (n *peer) Err() error {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if len(n.running) > 0 {
		return fmt.Errorf("%d longhorn-manager pods run in the namespace and write the same objects: end them as docs/taking-over.md "+
			"describes, or give --force-take-over", len(n.running))
	}
	return nil
}

// guardedLock is a lease that cannot be taken, nor kept, while longhorn-manager runs.
type guardedLock struct {
	resourcelock.Interface
	refuse func() error
}

// Create takes the lease for the first time.
func (l guardedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.refuse(); err != nil {
		return err
	}
	return l.Interface.Create(ctx, record)
}

// Update takes or renews the lease; giving it back is always allowed.
func (l guardedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.refuse(); err != nil && record.HolderIdentity != "" {
		return err
	}
	return l.Interface.Update(ctx, record)
}
