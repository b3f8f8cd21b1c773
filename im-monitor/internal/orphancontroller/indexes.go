package orphancontroller

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	byKey     = "drover.orphan.key"
	byManager = "drover.orphan.instanceManager"
	byVolume  = "drover.engine.volume"
	// byDataName and byDataNode find the Orphans of replica data, v2ByNode the v2 InstanceManagers of a node.
	byDataName = "drover.orphan.dataName"
	byDataNode = "drover.orphan.dataNode"
	v2ByNode   = "drover.orphan.instanceManagersOfNode"
)

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	err := errors.Join(
		indexer.IndexField(ctx, &v1beta2.Orphan{}, byKey, func(o client.Object) []string {
			if key, ok := keyOf(o.(*v1beta2.Orphan)); ok {
				return []string{indexValue(key)}
			}
			return nil
		}),
		indexer.IndexField(ctx, &v1beta2.Orphan{}, byManager, func(o client.Object) []string {
			if key, ok := keyOf(o.(*v1beta2.Orphan)); ok {
				return []string{key.InstanceManager}
			}
			return nil
		}),
		indexer.IndexField(ctx, &v1beta2.Orphan{}, byDataName, dataIndex(func(o *v1beta2.Orphan) string {
			return o.Spec.Parameters[v1beta2.OrphanParameterDataName]
		})),
		indexer.IndexField(ctx, &v1beta2.Orphan{}, byDataNode, dataIndex(func(o *v1beta2.Orphan) string { return o.Spec.NodeID })),
		indexer.IndexField(ctx, &v1beta2.InstanceManager{}, v2ByNode, func(o client.Object) []string {
			if im := o.(*v1beta2.InstanceManager); im.Spec.DataEngine == v1beta2.DataEngineV2 {
				return []string{im.Spec.NodeID}
			}
			return nil
		}),
		indexer.IndexField(ctx, &v1beta2.Engine{}, byVolume, func(o client.Object) []string {
			return []string{o.(*v1beta2.Engine).Spec.VolumeName}
		}),
	)
	if err != nil {
		return fmt.Errorf("indexing for the orphan evaluation: %w", err)
	}
	return nil
}

// keyOf is the instance that an Orphan is about; false for orphaned data, which is not a runtime instance.
func keyOf(o *v1beta2.Orphan) (orphan.Key, bool) {
	if o.Spec.OrphanType != v1beta2.OrphanTypeEngineInstance && o.Spec.OrphanType != v1beta2.OrphanTypeReplicaInstance {
		return orphan.Key{}, false
	}
	key := orphan.Key{
		InstanceManager: o.Spec.Parameters[v1beta2.OrphanParameterInstanceManager],
		Name:            o.Spec.Parameters[v1beta2.OrphanParameterInstanceName],
	}
	return key, key.InstanceManager != "" && key.Name != ""
}

// indexValue joins with a character that no name holds.
func indexValue(key orphan.Key) string { return key.InstanceManager + "/" + key.Name }
