package upgradecontroller

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// Cached returns what is kept of each kind: of pods only those that check images, of instance managers not what runs in them,
// which is the largest thing in the namespace. Nothing that is read from the cache is ever written back as a whole.
func Cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.Pod{}:              {Label: labels.SelectorFromSet(labels.Set{v1beta2.LabelComponent: componentCheck})},
		&v1beta2.InstanceManager{}: {Transform: kube.Keep(thinInstanceManager)},
	}
}

func thinInstanceManager(m *v1beta2.InstanceManager) *v1beta2.InstanceManager {
	m.ManagedFields = nil
	m.Status.InstanceEngines, m.Status.InstanceReplicas, m.Status.InstanceEngineFrontends = nil, nil, nil
	return m
}
