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
	// read returns spec.nodeID and status.ownerID.
	read func(client.Object) (nodeID, owner string)
	keys func(client.ObjectList) []client.ObjectKey
}

func kinds() []kind {
	return []kind{
		{
			name:   "engine",
			object: func() client.Object { return &v1beta2.Engine{} },
			list:   func() client.ObjectList { return &v1beta2.EngineList{} },
			read: func(o client.Object) (string, string) {
				e := o.(*v1beta2.Engine)
				return e.Spec.NodeID, e.Status.OwnerID
			},
			keys: func(l client.ObjectList) []client.ObjectKey { return keysOf(l.(*v1beta2.EngineList).Items) },
		},
		{
			name:   "engine-frontend",
			object: func() client.Object { return &v1beta2.EngineFrontend{} },
			list:   func() client.ObjectList { return &v1beta2.EngineFrontendList{} },
			read: func(o client.Object) (string, string) {
				e := o.(*v1beta2.EngineFrontend)
				return e.Spec.NodeID, e.Status.OwnerID
			},
			keys: func(l client.ObjectList) []client.ObjectKey { return keysOf(l.(*v1beta2.EngineFrontendList).Items) },
		},
		{
			name:   "replica",
			object: func() client.Object { return &v1beta2.Replica{} },
			list:   func() client.ObjectList { return &v1beta2.ReplicaList{} },
			read: func(o client.Object) (string, string) {
				r := o.(*v1beta2.Replica)
				return r.Spec.NodeID, r.Status.OwnerID
			},
			keys: func(l client.ObjectList) []client.ObjectKey { return keysOf(l.(*v1beta2.ReplicaList).Items) },
		},
		{
			name:   "instance-manager",
			object: func() client.Object { return &v1beta2.InstanceManager{} },
			list:   func() client.ObjectList { return &v1beta2.InstanceManagerList{} },
			read: func(o client.Object) (string, string) {
				im := o.(*v1beta2.InstanceManager)
				return im.Spec.NodeID, im.Status.OwnerID
			},
			keys: func(l client.ObjectList) []client.ObjectKey { return keysOf(l.(*v1beta2.InstanceManagerList).Items) },
		},
	}
}

func keysOf[T any, P interface {
	*T
	client.Object
}](items []T) []client.ObjectKey {
	out := make([]client.ObjectKey, 0, len(items))
	for i := range items {
		out = append(out, client.ObjectKeyFromObject(P(&items[i])))
	}
	return out
}
