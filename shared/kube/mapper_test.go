package kube_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// replicasOf is a cache with two replicas in each namespace.
type replicasOf struct{ client.Reader }

func (replicasOf) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(options)
	for _, name := range []string{"r-1", "r-2"} {
		into.(*v1beta2.ReplicaList).Items = append(into.(*v1beta2.ReplicaList).Items,
			v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: name}})
	}
	return nil
}

func TestAMapperRequestsWhatItsNamespaceHas(t *testing.T) {
	m := kube.Mapper{Reader: replicasOf{}, Namespace: "ns"}
	names := m.Names(t.Context(), &v1beta2.ReplicaList{})
	require.Equal(t, []string{"r-1", "r-2"}, names)
	require.Equal(t, []string{"ns", "ns"},
		m.NamesBy(t.Context(), client.Object.GetNamespace, &v1beta2.ReplicaList{}), "that of the mapper")
	request := func(name string) reconcile.Request {
		return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}
	}
	require.Equal(t, []reconcile.Request{request("r-1"), request("r-2")}, m.Requests(append(names, "")...), "no name, no request")
}
