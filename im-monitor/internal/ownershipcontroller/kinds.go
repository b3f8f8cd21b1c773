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
	// state is status.currentState of an instance, whose first one comes with the owner; nil for other kinds.
	state func(client.Object) string
}

// unreported reports whether the object gets its first status yet.
func (k kind) unreported(o client.Object) bool { return k.state != nil && k.state(o) == "" }

func kinds() []kind {
	return []kind{
		{
			name:   "engine",
			object: func() client.Object { return &v1beta2.Engine{} },
			list:   func() client.ObjectList { return &v1beta2.EngineList{} },
			owner:  func(o client.Object) string { return o.(*v1beta2.Engine).Status.OwnerID },
			state:  func(o client.Object) string { return o.(*v1beta2.Engine).Status.CurrentState },
		},
		{
			name:   "engine-frontend",
			object: func() client.Object { return &v1beta2.EngineFrontend{} },
			list:   func() client.ObjectList { return &v1beta2.EngineFrontendList{} },
			owner:  func(o client.Object) string { return o.(*v1beta2.EngineFrontend).Status.OwnerID },
			state:  func(o client.Object) string { return o.(*v1beta2.EngineFrontend).Status.CurrentState },
		},
		{
			name:   "replica",
			object: func() client.Object { return &v1beta2.Replica{} },
			list:   func() client.ObjectList { return &v1beta2.ReplicaList{} },
			owner:  func(o client.Object) string { return o.(*v1beta2.Replica).Status.OwnerID },
			state:  func(o client.Object) string { return o.(*v1beta2.Replica).Status.CurrentState },
		},
		{
			name:   "instance-manager",
			object: func() client.Object { return &v1beta2.InstanceManager{} },
			list:   func() client.ObjectList { return &v1beta2.InstanceManagerList{} },
			owner:  func(o client.Object) string { return o.(*v1beta2.InstanceManager).Status.OwnerID },
		},
	}
}
