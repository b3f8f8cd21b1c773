package rehearsal

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// Scope is what one upgrade will change: its image, and the nodes that it has still to upgrade.
type Scope struct {
	Image    string
	named    []string
	upgraded []string
}

func scopeOf(m *v1beta2.DataEngineUpgradeManager) Scope {
	return Scope{Image: m.Status.InstanceManagerImage, named: m.Spec.Nodes, upgraded: m.Status.UpgradedNodes}
}

// Has reports whether the upgrade will change the node.
func (s Scope) Has(node string) bool {
	return node != "" && (len(s.named) == 0 || slices.Contains(s.named, node)) && !slices.Contains(s.upgraded, node)
}

// Parts are the objects of the v2 volumes that an upgrade will change.
type Parts struct {
	// Volumes has the names of the volumes.
	Volumes  map[string]bool
	Engines  []*v1beta2.Engine
	Replicas []*v1beta2.Replica
}

// Parts reads the engines and the replicas of the volumes that have an instance on a node of the scope. The reader is no cache: a
// binary may keep less of these objects than is needed here.
func (s Scope) Parts(ctx context.Context, reader client.Reader, namespace string) (Parts, error) {
	var engines v1beta2.EngineList
	var replicas v1beta2.ReplicaList
	for _, list := range []client.ObjectList{&engines, &replicas} {
		if err := lookup.ListShared(ctx, reader, namespace, list); err != nil {
			return Parts{}, err
		}
	}
	out := Parts{Volumes: map[string]bool{}}
	for i := range engines.Items {
		if e := &engines.Items[i]; e.Spec.DataEngine == v1beta2.DataEngineV2 && isWanted(e.Spec.DesireState) && s.Has(e.Spec.NodeID) {
			out.Volumes[e.Spec.VolumeName] = true
		}
	}
	for i := range replicas.Items {
		if r := &replicas.Items[i]; r.Spec.DataEngine == v1beta2.DataEngineV2 && isWanted(r.Spec.DesireState) && s.Has(r.Spec.NodeID) {
			out.Volumes[r.Spec.VolumeName] = true
		}
	}
	for i := range engines.Items {
		if e := &engines.Items[i]; out.Volumes[e.Spec.VolumeName] && e.DeletionTimestamp == nil {
			out.Engines = append(out.Engines, e)
		}
	}
	for i := range replicas.Items {
		if r := &replicas.Items[i]; out.Volumes[r.Spec.VolumeName] && r.DeletionTimestamp == nil {
			out.Replicas = append(out.Replicas, r)
		}
	}
	return out, nil
}

func isWanted(desired string) bool { return desired == v1beta2.InstanceStateRunning }
