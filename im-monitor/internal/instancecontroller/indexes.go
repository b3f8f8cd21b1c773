package instancecontroller

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/ownershipcontroller"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	managersByNode    = "drover.instance.managers"
	orphansByInstance = "drover.instance.orphans"
	frontendsByVolume = "drover.instance.frontends-of-volume"
	// objectsByNode is shared: a hundred thousand replicas need no second index of the same.
	objectsByNode = ownershipcontroller.ByNode
)

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	err := errors.Join(
		indexer.IndexField(ctx, &v1beta2.InstanceManager{}, managersByNode, func(o client.Object) []string {
			return []string{o.(*v1beta2.InstanceManager).Spec.NodeID}
		}),
		indexer.IndexField(ctx, &v1beta2.Orphan{}, orphansByInstance, func(o client.Object) []string {
			parameters := o.(*v1beta2.Orphan).Spec.Parameters
			for _, key := range []string{v1beta2.OrphanParameterInstanceName, v1beta2.OrphanParameterDataName} {
				if name := parameters[key]; name != "" {
					return []string{name}
				}
			}
			return nil
		}),
		indexer.IndexField(ctx, &v1beta2.EngineFrontend{}, frontendsByVolume, func(o client.Object) []string {
			return []string{o.(*v1beta2.EngineFrontend).Spec.VolumeName}
		}),
	)
	if err != nil {
		return fmt.Errorf("indexing for instances: %w", err)
	}
	return nil
}
