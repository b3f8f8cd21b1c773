package instancecontroller

import (
	"cmp"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// orphansByInstance finds Orphans by the name of their instance, or of their data.
const orphansByInstance = "orphan-name"

var indexes = []kube.Index{
	kube.ByNode(&v1beta2.InstanceManager{}), kube.ByNode(&v1beta2.Engine{}), kube.ByNode(&v1beta2.EngineFrontend{}),
	kube.ByNode(&v1beta2.Replica{}), kube.ByVolume(&v1beta2.EngineFrontend{}),
	kube.IndexBy(&v1beta2.Orphan{}, orphansByInstance, func(o *v1beta2.Orphan) string {
		return cmp.Or(o.Spec.Parameters[v1beta2.OrphanParameterInstanceName], o.Spec.Parameters[v1beta2.OrphanParameterDataName])
	}),
}
