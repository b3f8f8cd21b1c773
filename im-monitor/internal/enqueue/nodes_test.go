package enqueue

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestAnObjectEnqueuesItsNodeAndANodeItself(t *testing.T) {
	named := metav1.ObjectMeta{Name: "x"}
	for _, o := range []client.Object{
		&v1beta2.InstanceManager{ObjectMeta: named, Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1"}},
		&v1beta2.Engine{ObjectMeta: named, Spec: v1beta2.EngineSpec{NodeID: "node-1"}},
		&v1beta2.EngineFrontend{ObjectMeta: named, Spec: v1beta2.EngineFrontendSpec{NodeID: "node-1"}},
		&v1beta2.Replica{ObjectMeta: named, Spec: v1beta2.ReplicaSpec{NodeID: "node-1"}},
	} {
		require.Equal(t, []string{"node-1"}, Node(t.Context(), o), "%T", o)
		require.Equal(t, []string{"x"}, Name(t.Context(), o), "%T", o)
	}
	require.Equal(t, []string{""}, Node(t.Context(), &v1beta2.Replica{ObjectMeta: named}), "one without a node has that of no node")
}
