// Package upgrade reads the live upgrades of nodes: which are under way, and which volumes a change of one concerns. Other packages decide
// what follows.
package upgrade

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// underWay is the index key of every upgrade under way.
const underWay = "yes"

// Reader reads upgrades through an index of its own.
type Reader struct {
	Client    client.Reader
	Namespace string
	// Index is the name of the index, which AddIndex creates; each part of the program has its own.
	Index string
}

// AddIndex creates the index.
func (r Reader) AddIndex(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &v1beta2.NodeDataEngineUpgrade{}, r.Index, func(o client.Object) []string {
		if Active(o.(*v1beta2.NodeDataEngineUpgrade).Status.State) {
			return []string{underWay}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing the upgrades of nodes: %w", err)
	}
	return nil
}

// UnderWay are the upgrades under way, in order of their names; usually one, or none.
func (r Reader) UnderWay(ctx context.Context) ([]v1beta2.NodeDataEngineUpgrade, error) {
	var list v1beta2.NodeDataEngineUpgradeList
	if err := lookup.ListShared(ctx, r.Client, r.Namespace, &list, client.MatchingFields{r.Index: underWay}); err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b v1beta2.NodeDataEngineUpgrade) int { return cmp.Compare(a.Name, b.Name) })
	return list.Items, nil
}

// Active reports whether an upgrade in this state is under way: it has begun and not ended.
func Active(state string) bool {
	switch state {
	case v1beta2.UpgradeStateInitializing, v1beta2.UpgradeStateSwitchingOver, v1beta2.UpgradeStateDetachingReplicas,
		v1beta2.UpgradeStateUpgradingInstanceManager, v1beta2.UpgradeStateSwitchingBack, v1beta2.UpgradeStateRebuildingReplica,
		v1beta2.UpgradeStateRollingBack:
		return true
	}
	return false
}
