package enqueue

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// Name is the name of an object, such as a Node, for a controller with one key for each node.
func Name(_ context.Context, o client.Object) []string { return []string{o.GetName()} }

// Node is the node of an InstanceManager, Engine, EngineFrontend or Replica, for such a controller.
func Node(_ context.Context, o client.Object) []string { return []string{v1beta2.NodeNameOf(o)} }
