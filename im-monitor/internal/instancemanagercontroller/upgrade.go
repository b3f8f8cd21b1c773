package instancemanagercontroller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/mapping"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// upgradeOf is the upgrade of a node that is under way; nil where there is none. Of two, the name decides.
func (s *reconciler) upgradeOf(ctx context.Context, node string) (*instancemanager.Upgrade, error) {
	return s.upgradeIn(ctx, s.rt.Client, client.MatchingFields{upgradesByNode: node})
}

// sameUpgrade reads the upgrade of the node uncached, right before a pod is deleted for it: lists take seconds, in which a target may have
// been switched back. It is a conflict if it is not as it was evaluated.
func (s *reconciler) sameUpgrade(ctx context.Context, w *instancemanager.World) error {
	now, err := s.upgradeIn(ctx, s.rt.Uncached, client.MatchingFields{"spec.nodeID": w.InstanceManager.Spec.NodeID})
	if err != nil || now != nil && *now == *w.Upgrade {
		return err
	}
	return apierrors.NewConflict(v1beta2.GroupVersion.WithResource("instancemanagers").GroupResource(), w.InstanceManager.Name,
		errors.New("the upgrade of its node has changed since it was evaluated"))
}

func (s *reconciler) upgradeIn(ctx context.Context, reader client.Reader, of client.MatchingFields) (*instancemanager.Upgrade, error) {
	var list v1beta2.NodeDataEngineUpgradeList
	if err := lookup.ListShared(ctx, reader, s.rt.Namespace, &list, of); err != nil {
		return nil, err
	}
	var found *v1beta2.NodeDataEngineUpgrade
	for i := range list.Items {
		u := &list.Items[i]
		if u.Spec.DataEngine == v1beta2.DataEngineV2 && instancemanager.ActiveUpgrade(u.Status.State) &&
			(found == nil || u.Name < found.Name) {
			found = u
		}
	}
	if found == nil {
		return nil, nil
	}
	return upgradeFrom(found), nil
}

func upgradeFrom(u *v1beta2.NodeDataEngineUpgrade) *instancemanager.Upgrade {
	out := &instancemanager.Upgrade{UID: u.UID, State: u.Status.State, Image: u.Spec.InstanceManagerImage}
	if old := u.Status.OldInstanceManager; old != nil {
		out.OldName, out.OldUID = old.Name, types.UID(old.UID)
	}
	return out
}

// readMapped finds where the frontends lead, and the engines that map a replica on the instance manager, where its end hangs on that. They
// are read uncached: what speaks for ending what serves is asked of the API server. The newest lists of the other nodes testify, too.
func (s *reconciler) readMapped(ctx context.Context, w *instancemanager.World) error {
	w.Mapped, w.Frontends = nil, nil
	if !w.Replaceable() {
		return nil
	}
	if err := s.readFrontends(ctx, w); err != nil {
		return err
	}
	engines := map[string][]mapping.Engine{}
	for _, name := range w.Inventory.Processes.Serving() {
		volume, err := s.volumeOf(ctx, name)
		if err != nil {
			return err
		}
		if _, read := engines[volume]; !read {
			if engines[volume], err = s.enginesOf(ctx, volume); err != nil {
				return err
			}
		}
		for _, use := range mapping.Uses(name, engines[volume], s.testimony(engines[volume], name)) {
			w.Mapped = append(w.Mapped, fmt.Sprintf("engine %s maps replica %s on it", use.Engine, name))
		}
	}
	return nil
}

// volumeOf is the volume of a replica: as its object reports, else as its name does.
func (s *reconciler) volumeOf(ctx context.Context, replica string) (string, error) {
	r, err := lookup.Shared(ctx, s.rt.Client, s.rt.Namespace, replica, &v1beta2.Replica{})
	if err != nil {
		return "", err
	}
	if r != nil {
		return r.Spec.VolumeName, nil
	}
	if at := strings.LastIndex(replica, "-r-"); at >= 0 {
		return replica[:at], nil
	}
	return replica, nil
}

func (s *reconciler) enginesOf(ctx context.Context, volume string) ([]mapping.Engine, error) {
	var list v1beta2.EngineList
	err := s.rt.Uncached.List(ctx, &list, client.InNamespace(s.rt.Namespace),
		client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(volume)})
	if err != nil {
		return nil, fmt.Errorf("listing the engines of volume %s: %w", volume, err)
	}
	out := make([]mapping.Engine, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, mapping.EngineOf(&list.Items[i]))
	}
	return out, nil
}

// testimony are those of the engines that map a replica in the newest list of an instance manager, whatever their objects report.
func (s *reconciler) testimony(engines []mapping.Engine, replica string) []mapping.Place {
	var out []mapping.Place
	for _, e := range engines {
		for _, name := range s.store.Holders(e.Name) {
			snapshot, known := s.store.Latest(name)
			if !known {
				continue
			}
			if _, mapped := snapshot.Instances.At(e.Name).Replicas[replica]; mapped {
				out = append(out, mapping.Place{InstanceManager: name, Node: snapshot.Node, MappedBy: e.Name})
			}
		}
	}
	mapping.Order(out)
	return out
}
