package orphancontroller_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// behind is a client whose cache lags: it shows objects as change reports, and none of those that hide names.
type behind struct {
	client.Client
	change func(client.Object)
	hide   string
}

func (b *behind) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := b.Client.Get(ctx, key, obj, opts...)
	if err == nil && b.change != nil {
		b.change(obj)
	}
	return err
}

func (b *behind) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	err := b.Client.List(ctx, list, opts...)
	managers, ok := list.(*v1beta2.InstanceManagerList)
	if err != nil || !ok {
		return err
	}
	var shown []v1beta2.InstanceManager
	for _, im := range managers.Items {
		if im.Name == b.hide {
			continue
		}
		if b.change != nil {
			b.change(&im)
		}
		shown = append(shown, im)
	}
	managers.Items = shown
	return nil
}

// ORP-2, O20: what speaks for a deletion of data is never a cache's word.
func TestACacheThatIsBehindNeverSpeaksForADeletion(t *testing.T) {
	for name, cached := range map[string]*behind{
		"it reports that a node is down": {change: func(o client.Object) {
			if n, ok := o.(*v1beta2.Node); ok && n.Name == "node-2" {
				n.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse,
					Reason: v1beta2.ReasonKubernetesNodeNotReady}}
			}
		}},
		"it reports that an instance manager is stopped": {change: func(o client.Object) {
			if im, ok := o.(*v1beta2.InstanceManager); ok && im.Name == imOther {
				im.Status.CurrentState = v1beta2.InstanceManagerStateStopped
			}
		}},
		"it does not show an instance manager yet": {hide: imOther},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create(&v1beta2.Volume{ObjectMeta: w.meta("vol-1"), Spec: v1beta2.VolumeSpec{NodeID: "node-2"}})
			im := &v1beta2.InstanceManager{ObjectMeta: w.meta(imOther)}
			require.NoError(t, w.admin.Get(t.Context(), client.ObjectKeyFromObject(im), im))
			im.Labels = map[string]string{v1beta2.LabelNodeOfComponent: "node-2", v1beta2.LabelDataEngine: "v2"}
			require.NoError(t, w.admin.Update(t.Context(), im))
			w.setStatus(im, map[string]any{"currentState": v1beta2.InstanceManagerStateRunning})
			w.store.reachable(imOther, nil)
			w.store.put(imV2, instance("vol-1-r-aa", "replica", "stopped", uuid1))
			w.wrap = func(inner client.Client) client.Client {
				cached.Client = inner
				return cached
			}
			w.start()
			o := w.orphanOf(imV2, "vol-1-r-aa", uuid1, "v2")
			w.approve(o)
			w.reports(o, v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue, v1beta2.ReasonUnreachable)
			require.Empty(t, w.store.executed())
			w.node("node-2", v1beta2.ReasonKubernetesNodeNotReady, metav1.ConditionFalse)
			w.reports(o, v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
		})
	}
}
