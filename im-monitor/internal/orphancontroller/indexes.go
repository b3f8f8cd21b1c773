package orphancontroller

import (
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

const (
	byKey     = "orphan-key"
	byManager = "orphan-instance-manager"
	// byDataName and byDataNode find the Orphans of replica data, v2ByNode the v2 InstanceManagers of a node.
	byDataName = "orphan-data"
	byDataNode = "orphan-data-node"
	v2ByNode   = "v2-node"
)

var indexes = []kube.Index{
	kube.ByVolume(&v1beta2.Engine{}),
	kube.IndexBy(&v1beta2.Orphan{}, byKey, func(o *v1beta2.Orphan) string {
		if key, ok := keyOf(o); ok {
			return indexValue(key)
		}
		return ""
	}),
	kube.IndexBy(&v1beta2.Orphan{}, byManager, func(o *v1beta2.Orphan) string {
		if key, ok := keyOf(o); ok {
			return key.InstanceManager
		}
		return ""
	}),
	kube.IndexBy(&v1beta2.Orphan{}, byDataName, func(o *v1beta2.Orphan) string {
		return ifBlockData(o, o.Spec.Parameters[v1beta2.OrphanParameterDataName])
	}),
	kube.IndexBy(&v1beta2.Orphan{}, byDataNode, func(o *v1beta2.Orphan) string { return ifBlockData(o, o.Spec.NodeID) }),
	kube.Shared(kube.IndexBy(&v1beta2.InstanceManager{}, v2ByNode, func(im *v1beta2.InstanceManager) string {
		if im.Spec.DataEngine == v1beta2.DataEngineV2 {
			return im.Spec.NodeID
		}
		return ""
	})),
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
