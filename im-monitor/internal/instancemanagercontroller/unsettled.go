package instancemanagercontroller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// unsettled reports which volume with a replica on the node of an idle instance manager may need that replica in a moment, and why. Volumes
// and engines are read uncached, right before the end of the pod.
func (s *reconciler) unsettled(ctx context.Context, im *v1beta2.InstanceManager) (string, error) {
	var replicas v1beta2.ReplicaList
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &replicas,
		client.MatchingFields{kube.FieldNode: im.Spec.NodeID}); err != nil {
		return "", err
	}
	read := map[string]bool{}
	for i := range replicas.Items {
		r := &replicas.Items[i]
		if read[r.Spec.VolumeName] || engineName(r.Spec.DataEngine) != engineName(im.Spec.DataEngine) {
			continue
		}
		read[r.Spec.VolumeName] = true
		v, err := lookup.Shared(ctx, s.rt.Uncached, s.rt.Namespace, r.Spec.VolumeName, &v1beta2.Volume{})
		if err != nil {
			return "", err
		}
		if v == nil {
			continue
		}
		var engines v1beta2.EngineList
		err = s.rt.Uncached.List(ctx, &engines, client.InNamespace(s.rt.Namespace),
			client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(v.Name)})
		if err != nil {
			return "", fmt.Errorf("listing the engines of volume %s: %w", v.Name, err)
		}
		if why := instancemanager.Unsettled(v, engines.Items, s.rt.Clock.Now(), s.options.EngineLossPause); why != "" {
			return why, nil
		}
	}
	return "", nil
}

func engineName(dataEngine string) string {
	if dataEngine == "" {
		return v1beta2.DataEngineV1
	}
	return dataEngine
}
