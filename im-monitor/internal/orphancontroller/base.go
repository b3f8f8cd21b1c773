package orphancontroller

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/mappingreader"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// base is what both controllers share.
type base struct {
	client    client.Client
	uncached  client.Reader
	store     inventory.Store
	recorder  events.EventRecorder
	clock     clock.PassiveClock
	log       logr.Logger
	namespace string
	electedAt func() time.Time
	// callTimeout bounds a deletion, beside readToCall for the checks; with the leadership's own context it ends before the
	// lease could.
	callTimeout time.Duration
	options     Options

	attempts  attempts
	written   kube.Written
	guard     execute.Guard
	handles   handles
	mappings  mappingreader.Reader
	undecided undecided

	// evaluationQueue and executorQueue enqueue the two controllers.
	evaluationQueue, executorQueue enqueue.Queue[orphan.Key]
}

// fencingDelayEnds is when this leader may touch Orphans that are being deleted. A process that is not elected never may.
func (s *base) fencingDelayEnds() time.Time {
	return execute.FencingDelayEnds(s.electedAt(), s.clock.Now(), s.options.PostElectionDelay)
}

// absent asks the inventory for the proof that an Orphan's instance is not there. After a call of our own less is
// needed.
func (s *base) absent(o orphan.Orphan, t attempt) bool {
	if s.store.Absent(subject(o)) {
		return true
	}
	return t.call != nil && s.store.AbsentAfter(*t.call)
}

// subject is the instance of an Orphan, whose absence is asked for.
func subject(o orphan.Orphan) inventory.Subject {
	instanceType := v1beta2.InstanceTypeReplica
	if o.OrphanType == v1beta2.OrphanTypeEngineInstance {
		instanceType = v1beta2.InstanceTypeEngine
	}
	return inventory.Subject{InstanceManager: o.InstanceManager, Name: o.InstanceName, UUID: o.UUID, Type: instanceType,
		DiskUUID: o.DiskUUID}
}

// cachedOrphans are the Orphans about one key: those of the instance, and those of data that this instance manager has to answer for.
func (s *base) cachedOrphans(ctx context.Context, key orphan.Key) ([]*v1beta2.Orphan, error) {
	out, err := s.cached(ctx, byKey, indexValue(key))
	if err != nil {
		return nil, err
	}
	data, err := s.cached(ctx, byDataName, key.Name)
	for _, o := range data {
		if slices.Contains(s.dataKeys(ctx, o), key) {
			out = append(out, o)
		}
	}
	return out, err
}

// cached are the Orphans that an index finds.
func (s *base) cached(ctx context.Context, index, value string) ([]*v1beta2.Orphan, error) {
	var list v1beta2.OrphanList
	if err := s.client.List(ctx, &list, client.InNamespace(s.namespace), client.MatchingFields{index: value}); err != nil {
		return nil, fmt.Errorf("listing orphans of %s: %w", value, err)
	}
	out := make([]*v1beta2.Orphan, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out, nil
}
