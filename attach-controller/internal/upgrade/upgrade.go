// Package upgrade reads the live upgrades of nodes: which are under way, and which volumes a change of one concerns. Other packages decide
// what follows.
package upgrade

import (
	"cmp"
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// underWay finds the upgrades under way.
const underWay = "underWay"

// Indexes are those that a Reader needs. Several reconcilers may add them.
var Indexes = []kube.Index{
	kube.Shared(kube.IndexIf(&v1beta2.NodeDataEngineUpgrade{}, underWay, func(u *v1beta2.NodeDataEngineUpgrade) bool {
		return Active(u.Status.State)
	})),
}

// Reader reads upgrades through Indexes.
type Reader struct {
	Client    client.Reader
	Namespace string
}

// UnderWay are the upgrades under way, in order of their names; usually one, or none.
func (r Reader) UnderWay(ctx context.Context) ([]v1beta2.NodeDataEngineUpgrade, error) {
	var list v1beta2.NodeDataEngineUpgradeList
	if err := lookup.ListShared(ctx, r.Client, r.Namespace, &list, client.MatchingFields{underWay: kube.Yes}); err != nil {
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
