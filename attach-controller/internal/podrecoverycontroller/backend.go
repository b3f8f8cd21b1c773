package podrecoverycontroller

import (
	"context"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/lookup"
)

// backend is the Service that the CSI plugin asks at each mount.
const backend = "longhorn-backend"

// ofBackend selects the EndpointSlices of that Service.
var ofBackend = client.MatchingLabels{discoveryv1.LabelServiceName: backend}

// isServing reports whether a slice has an endpoint that is ready, or whose state is unknown: Kubernetes sends requests to both.
func isServing(slice *discoveryv1.EndpointSlice) bool {
	return slices.ContainsFunc(slice.Endpoints, func(e discoveryv1.Endpoint) bool {
		return e.Conditions.Ready == nil || *e.Conditions.Ready
	})
}

// backendServes reports whether the Service leads to a ready pod.
func (o observer) backendServes(ctx context.Context) (bool, error) {
	var list discoveryv1.EndpointSliceList
	if err := lookup.ListShared(ctx, o.reader, o.namespace, &list, ofBackend); err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.Items, func(s discoveryv1.EndpointSlice) bool { return isServing(&s) }), nil
}

// thinSlice keeps whether the endpoints of a slice are ready.
func thinSlice(slice *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	thin := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: slice.Namespace, Name: slice.Name, UID: slice.UID,
		Labels: slice.Labels, ResourceVersion: slice.ResourceVersion, DeletionTimestamp: slice.DeletionTimestamp}}
	for _, e := range slice.Endpoints {
		thin.Endpoints = append(thin.Endpoints, discoveryv1.Endpoint{Conditions: discoveryv1.EndpointConditions{Ready: e.Conditions.Ready}})
	}
	return thin
}
