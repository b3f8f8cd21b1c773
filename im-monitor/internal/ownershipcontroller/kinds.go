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
	// owner is status.ownerID.
	owner func(client.Object) string
}

func kinds() []kind {
	return []kind{
		{
			name:   "engine",
			object: func() client.Object { return &v1beta2.Engine{} },
			list:   func() client.ObjectList { return &v1beta2.EngineList{} },
			owner:  func(o client.Object) string { return o.(*v1beta2.Engine).Status.OwnerID },
		},
		{
			name:   "engine-frontend",
			object: func() client.Object { return &v1beta2.EngineFrontend{} },
			list:   func() client.ObjectList { return &v1beta2.EngineFrontendList{} },
			owner:  func(o client.Object) string { return o.(*v1beta2.EngineFrontend).Status.OwnerID },
		},
		{
			name:   "replica",
			object: func() client.Object { return &v1beta2.Replica{} },
			list:   func() client.ObjectList { return &v1beta2.ReplicaList{} },
			owner:  func(o client.Object) string { return o.(*v1beta2.Replica).Status.OwnerID },
		},
		{
			name:   "instance-manager",
			object: func() client.Object { return &v1beta2.InstanceManager{} },
			list:   func() client.ObjectList { return &v1beta2.InstanceManagerList{} },
			owner:  func(o client.Object) string { return o.(*v1beta2.InstanceManager).Status.OwnerID },
		},
	}
}
