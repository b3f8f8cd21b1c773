package world

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// LeaseHolder is the holder of a controller's lease, "" while there is none.
func (w *World) LeaseHolder(ctx context.Context, controller string) (string, error) {
	var lease coordinationv1.Lease
	if err := w.Admin.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: "drover-" + controller}, &lease); err != nil {
		return "", fmt.Errorf("reading the lease of %s: %w", controller, err)
	}
	return ptr.Deref(lease.Spec.HolderIdentity, ""), nil
}
