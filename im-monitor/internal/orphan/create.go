package orphan

import "drover.dev/drover/shared/api/v1beta2"

// missing returns the Orphan that the evaluation requires, unless one of that name exists. One that was withdrawn or
// ended keeps its name until its object is gone; then a new evaluation gets a new object.
func missing(w World, j Evaluation) *Creation {
	if j.Decision != Orphaned {
		return nil
	}
	name := v1beta2.OrphanName(w.Key.Name, j.UUID, w.Key.InstanceManager, w.dataEngine())
	for _, o := range w.Orphans {
		if o.Name == name {
			return nil
		}
	}
	c := &Creation{
		Name: name, OrphanType: v1beta2.OrphanTypeReplicaInstance, DataEngine: w.dataEngine(), Node: w.Manager.Node,
		Parameters: map[string]string{
			v1beta2.OrphanParameterInstanceName:    w.Key.Name,
			v1beta2.OrphanParameterInstanceUUID:    j.UUID,
			v1beta2.OrphanParameterInstanceManager: w.Key.InstanceManager,
		},
	}
	instanceLabel := v1beta2.LabelReplica
	if w.Inventory.Instance.Type == v1beta2.InstanceTypeEngine {
		c.OrphanType, instanceLabel = v1beta2.OrphanTypeEngineInstance, v1beta2.LabelEngine
	}
	c.Labels = map[string]string{
		v1beta2.LabelComponent:       v1beta2.ComponentOrphan,
		v1beta2.LabelManagedBy:       v1beta2.ManagedByLonghornManager,
		v1beta2.LabelOrphanType:      c.OrphanType,
		v1beta2.LabelNode:            v1beta2.LabelValue(w.Manager.Node),
		v1beta2.LabelInstanceManager: v1beta2.LabelValue(w.Key.InstanceManager),
		instanceLabel:                v1beta2.LabelValue(w.Key.Name),
	}
	return c
}
