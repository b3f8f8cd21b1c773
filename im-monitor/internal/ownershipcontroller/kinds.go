package ownershipcontroller

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// kind is what differs between the kinds whose owner is kept.
type kind struct {
	name   string
	object func() client.Object
	list   func() client.ObjectList
	// instance: its first owner comes with its first status.
	instance bool
}

// unreported reports whether the object gets its first status yet.
func (k kind) unreported(o client.Object) bool { return k.instance && v1beta2.InstanceStateOf(o) == "" }

func kinds() []kind {
	return []kind{
		{
			name:     "engine",
			object:   func() client.Object { return &v1beta2.Engine{} },
			list:     func() client.ObjectList { return &v1beta2.EngineList{} },
			instance: true,
		},
		{
			name:     "engine-frontend",
			object:   func() client.Object { return &v1beta2.EngineFrontend{} },
			list:     func() client.ObjectList { return &v1beta2.EngineFrontendList{} },
			instance: true,
		},
		{
			name:     "replica",
			object:   func() client.Object { return &v1beta2.Replica{} },
			list:     func() client.ObjectList { return &v1beta2.ReplicaList{} },
			instance: true,
		},
		{
			name:   "instance-manager",
			object: func() client.Object { return &v1beta2.InstanceManager{} },
			list:   func() client.ObjectList { return &v1beta2.InstanceManagerList{} },
		},
	}
}
