package orphan

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// notAbandoned holds policy back from an instance that has no object of its name, unless attach-controller recorded that it abandoned
// exactly this instance [ORP-5], or a person did (v1beta2.GivenUp). A missing object proves nothing: after etcd was restored to an earlier
// state, an instance that was created since has none and serves, whether its volume has one or not. It does not matter whether an engine
// runs: a detached volume is as valuable as an attached one.
func notAbandoned(w World) *ruleResult {
	if w.Engine != nil || w.Replica != nil || recorded(w) || v1beta2.GivenUp(w.Orphan) || isData(w) && known(w) {
		return nil
	}
	missing := "No Engine or Replica of the name " + nameOf(w) + " exists"
	if !known(w) {
		missing = "No Volume or PersistentVolume of " + nameOf(w) + " exists"
	}
	return hold(v1beta2.ReasonNotAbandoned, missing+
		", and attach-controller did not record that it gave this instance up: the objects may be missing, as after "+
		"restoring an earlier state of etcd. Nothing is deleted by policy. Restore the objects; or, if the instance is not needed, "+
		"delete the orphan by hand, or record that it is given up with kubectl drover orphans accept "+w.Orphan.Name)
}

// known reports whether the volume exists. That is enough for data on a disk, which has no UUID to be recorded by: the rules of the last
// copy follow. An Engine, EngineFrontend or Replica of the volume alone is no evidence: a controller that has not heard yet that etcd was
// restored may have created it. A name that does not show its volume is of none.
func known(w World) bool { return w.Volume != nil || w.PersistentVolume }

// recorded reports whether exactly this instance is recorded as abandoned.
func recorded(w World) bool {
	if w.Node == nil || !isInstance(w) {
		return false
	}
	entry, ok := w.Node.Status.AbandonedInstances[nameOf(w)]
	return ok && entry.UUID != "" && entry.UUID == parameter(w, v1beta2.OrphanParameterInstanceUUID) &&
		entry.DataEngine == w.Orphan.Spec.DataEngine
}

// usedUnnamed holds policy back from a replica without an object while an engine of its volume uses one that no object names.
func usedUnnamed(w World) *ruleResult {
	if w.UsesUnnamed == "" || w.Replica != nil || w.Orphan.Spec.OrphanType == v1beta2.OrphanTypeEngineInstance || deleting(w) &&
		!onPolicyAlone(w) {
		return nil
	}
	return hold(v1beta2.ReasonMappedByEngine, fmt.Sprintf("Engine %s uses a replica that no Replica object names, and %s may be it: no "+
		"policy deletes it.", w.UsesUnnamed, nameOf(w))+byHand(w, "the engine does not need it"))
}
