package world

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FreeLease gives back the lease of a controller that was killed, as if its time were over: who follows need not wait for that.
func (w *World) FreeLease(ctx context.Context, controller string) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "drover-" + controller}}
	return w.patch(ctx, lease, map[string]any{"spec": map[string]any{"holderIdentity": ""}})
}
