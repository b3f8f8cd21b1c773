package instancecontroller

import (
	"cmp"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// orphansByInstance finds Orphans by the name of their instance, or of their data.
const orphansByInstance = "orphan-name"

// managersByEngine finds InstanceManagers by the engines that their status has.
const managersByEngine = "engines"

var indexes = []kube.Index{
	kube.ByNode(&v1beta2.InstanceManager{}), kube.ByNode(&v1beta2.Engine{}), kube.ByNode(&v1beta2.EngineFrontend{}),
	kube.ByNode(&v1beta2.Replica{}), kube.ByVolume(&v1beta2.Engine{}), kube.ByVolume(&v1beta2.EngineFrontend{}),
	kube.IndexByEach(&v1beta2.InstanceManager{}, managersByEngine, func(im *v1beta2.InstanceManager) []string {
		return slices.Collect(maps.Keys(im.Status.InstanceEngines))
	}),
	kube.IndexBy(&v1beta2.Orphan{}, orphansByInstance, func(o *v1beta2.Orphan) string {
		return cmp.Or(o.Spec.Parameters[v1beta2.OrphanParameterInstanceName], o.Spec.Parameters[v1beta2.OrphanParameterDataName])
	}),
}
