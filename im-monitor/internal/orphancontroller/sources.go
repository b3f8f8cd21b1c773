package orphancontroller

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// evaluationSources are the events that may change a verdict. Each enqueues only the keys that it concerns.
func (s *base) evaluationSources(c cache.Cache) []source.TypedSource[orphan.Key] {
	return []source.TypedSource[orphan.Key]{
		source.TypedFunc[orphan.Key](s.evaluationQueue.Start),
		enqueue.On(c, &v1beta2.Orphan{}, s.orphanKeys),
		enqueue.On(c, &v1beta2.Engine{}, claimedBy[*v1beta2.Engine](s), kube.OnChange(engineFacts)),
		enqueue.On(c, &v1beta2.Replica{}, claimedBy[*v1beta2.Replica](s), kube.OnChange(replicaFacts)),
		enqueue.On(c, &v1beta2.InstanceManager{}, func(ctx context.Context, im *v1beta2.InstanceManager) []orphan.Key {
			return append(s.keysOfManager(ctx, im.Name), s.dataKeysOfNode(ctx, im.Spec.NodeID)...)
		}, kube.OnChange(managerFacts)),
		enqueue.On(c, &v1beta2.Node{}, s.keysOfNode, kube.OnChange(nodeFacts)),
	}
}

// executorSources enqueue the executors: an Orphan that may be executable. The evaluation enqueues them, too.
func (s *base) executorSources(c cache.Cache) []source.TypedSource[orphan.Key] {
	forget := predicate.Funcs{DeleteFunc: func(e event.DeleteEvent) bool {
		s.attempts.Forget(e.Object.GetUID())
		return false
	}}
	return []source.TypedSource[orphan.Key]{
		source.TypedFunc[orphan.Key](s.executorQueue.Start),
		enqueue.On(c, &v1beta2.Orphan{}, s.orphanKeys, forget,
			kube.If(func(o *v1beta2.Orphan) bool { return orphan.Approved(s.orphanOf(o, "")) })),
	}
}

// inventoryChanged enqueues the names that a list changed. When an inventory becomes known again, tries
// that failed because it was not are due at once.
func (s *base) inventoryChanged(change inventory.Change) {
	if !change.Whole {
		for _, name := range change.Names {
			s.evaluationQueue.Add(orphan.Key{InstanceManager: change.InstanceManager, Name: name})
		}
		return
	}
	if _, known := s.store.Latest(change.InstanceManager); known {
		s.retryAll(change.InstanceManager, change.Node)
	} else {
		s.undecided.forget(change.InstanceManager)
	}
	s.evaluationQueue.Add(s.keysOfManager(context.Background(), change.InstanceManager)...)
	s.evaluationQueue.Add(s.dataKeysOfNode(context.Background(), change.Node)...)
}

// retryAll lets the failed tries of an instance manager be repeated now.
func (s *base) retryAll(instanceManager, node string) {
	orphans, err := s.cached(context.Background(), byManager, instanceManager)
	data, dataErr := s.cached(context.Background(), byDataNode, node)
	if err := errors.Join(err, dataErr); err != nil {
		s.log.Error(err, "finding the deletions to retry", "instanceManager", instanceManager)
	}
	for _, o := range append(orphans, data...) {
		if hurry(&s.attempts, o.UID) {
			s.executorQueue.Add(s.orphanKeys(context.Background(), o)...)
		}
	}
}

// keysOfManager are all names of the latest list and of Orphans of one instance manager.
func (s *base) keysOfManager(ctx context.Context, instanceManager string) []orphan.Key {
	var keys []orphan.Key
	if snapshot, ok := s.store.Latest(instanceManager); ok {
		for name := range snapshot.Instances.All() {
			keys = append(keys, orphan.Key{InstanceManager: instanceManager, Name: name})
		}
	}
	orphans, err := s.cached(ctx, byManager, instanceManager)
	if err != nil {
		s.log.Error(err, "finding the orphans of an instance manager", "instanceManager", instanceManager)
	}
	for _, o := range orphans {
		keys = append(keys, s.orphanKeys(ctx, o)...)
	}
	return keys
}

func (s *base) keysOfNode(ctx context.Context, node *v1beta2.Node) []orphan.Key {
	var keys []orphan.Key
	for _, im := range s.store.OfNode(node.Name) {
		keys = append(keys, s.keysOfManager(ctx, im)...)
	}
	return append(keys, s.dataKeysOfNode(ctx, node.Name)...)
}

func (s *base) orphanKeys(ctx context.Context, o *v1beta2.Orphan) []orphan.Key {
	if key, ok := keyOf(o); ok {
		return []orphan.Key{key}
	}
	return s.dataKeys(ctx, o)
}

// claimedBy finds the instances that carry the object's name, wherever they are.
func claimedBy[T client.Object](s *base) func(context.Context, T) []orphan.Key {
	return func(ctx context.Context, o T) []orphan.Key {
		return append(s.holders(o.GetName()), s.dataKeysOf(ctx, byDataName, o.GetName())...)
	}
}

// holders are the instances of a name, wherever they are.
func (s *base) holders(name string) []orphan.Key {
	var keys []orphan.Key
	for _, im := range s.store.Holders(name) {
		keys = append(keys, orphan.Key{InstanceManager: im, Name: name})
	}
	return keys
}

func engineFacts(e *v1beta2.Engine) orphan.Claim { return *engineClaim(e) }

func replicaFacts(r *v1beta2.Replica) orphan.Claim { return *replicaClaim(r) }

func managerFacts(im *v1beta2.InstanceManager) orphan.Manager {
	return orphan.Manager{Node: im.Spec.NodeID, DataEngine: im.Spec.DataEngine}
}
