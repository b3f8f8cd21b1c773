package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/orphan-controller/internal/orphan"
	"drover.dev/drover/orphan-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// observer fills the core's World. It only reads.
type observer struct {
	cached, live client.Reader
	namespace    string
	clock        clock.PassiveClock
	settings     setting.Memory
	approvals    *approvals
	deletions    deletions
	limits       orphan.Limits
}

// source is where one observation reads.
type source struct {
	client.Reader
	live bool
}

// observe reads the world of one orphan; nil: the orphan is gone. With live, everything that a deletion rests on is
// read from the API server itself. What stays cached then are counts (siblings, deletions in flight), and persistent
// volumes, which cannot be asked for by handle.
func (o observer) observe(ctx context.Context, name string, live bool) (*orphan.World, error) {
	reader := source{Reader: o.cached}
	if live {
		reader = source{Reader: o.live, live: true}
	}
	found, err := lookup.Get(ctx, reader, o.namespace, name, &v1beta2.Orphan{})
	if err != nil {
		return nil, err
	}
	if found == nil {
		o.deletions.forget(name)
		return nil, nil
	}
	w := &orphan.World{Orphan: found, Limits: o.limits}
	for _, read := range []func(context.Context, source, *orphan.World) error{
		o.readPlace, o.readClaim, o.readVolume, o.readPeers, o.readSettings,
	} {
		if err := read(ctx, reader, w); err != nil {
			return nil, fmt.Errorf("reading the world of orphan %s: %w", name, err)
		}
	}
	w.Now = o.clock.Now()
	w.DeletionSeen = o.deletions.seen(found, w.Now)
	return w, nil
}

// readPlace reads where the instance is.
func (o observer) readPlace(ctx context.Context, reader source, w *orphan.World) (err error) {
	if w.Node, err = lookup.Get(ctx, reader, o.namespace, w.Orphan.Spec.NodeID, &v1beta2.Node{}); err != nil {
		return err
	}
	w.InstanceManager, err = lookup.Get(ctx, reader, o.namespace, w.Orphan.Spec.Parameters[v1beta2.OrphanParameterInstanceManager],
		&v1beta2.InstanceManager{})
	return err
}

// readClaim reads the CR of the instance's name.
func (o observer) readClaim(ctx context.Context, reader source, w *orphan.World) (err error) {
	instance := w.Orphan.Spec.Parameters[v1beta2.OrphanParameterInstanceName]
	switch w.Orphan.Spec.OrphanType {
	case v1beta2.OrphanTypeReplicaData:
		w.Replica, err = lookup.Get(ctx, reader, o.namespace, w.Orphan.Spec.Parameters[v1beta2.OrphanParameterDataName], &v1beta2.Replica{})
	case v1beta2.OrphanTypeEngineInstance:
		w.Engine, err = lookup.Get(ctx, reader, o.namespace, instance, &v1beta2.Engine{})
	case v1beta2.OrphanTypeReplicaInstance:
		w.Replica, err = lookup.Get(ctx, reader, o.namespace, instance, &v1beta2.Replica{})
	}
	return err
}

// readVolume reads the instance's volume and, of a replica, its copies.
func (o observer) readVolume(ctx context.Context, reader source, w *orphan.World) (err error) {
	volume := orphan.VolumeOf(w.Orphan)
	if volume == "" {
		return nil
	}
	if w.Volume, err = lookup.Get(ctx, reader, o.namespace, volume, &v1beta2.Volume{}); err != nil {
		return err
	}
	var volumes corev1.PersistentVolumeList
	if err := lookup.ListShared(ctx, o.cached, "", &volumes, client.MatchingFields{kube.FieldHandle: volume}); err != nil {
		return err
	}
	w.PersistentVolume = len(volumes.Items) > 0
	if w.Orphan.Spec.OrphanType == v1beta2.OrphanTypeEngineInstance {
		return nil
	}
	engines, err := o.readEngines(ctx, reader, volume)
	if err != nil {
		return err
	}
	w.UsesUnnamed = usesUnnamed(engines, orphan.NameOf(w.Orphan))
	if err := o.readCopies(ctx, reader, volume, w); err != nil {
		return err
	}
	return o.readHealth(ctx, reader, engines, w.Copies)
}

func (o observer) readCopies(ctx context.Context, reader source, volume string, w *orphan.World) error {
	// The API server knows labels, the cache knows indexes. A replica without the label is not found and does not
	// count as a copy.
	var which client.ListOption = client.MatchingFields{kube.FieldVolume: volume}
	if reader.live {
		which = client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(volume)}
	}
	var replicas v1beta2.ReplicaList
	if err := lookup.List(ctx, reader, o.namespace, &replicas, which); err != nil {
		return err
	}
	for i := range replicas.Items {
		replica := &replicas.Items[i]
		if replica.Spec.VolumeName != volume {
			continue
		}
		node, err := lookup.Get(ctx, reader, o.namespace, replica.Spec.NodeID, &v1beta2.Node{})
		if err != nil {
			return err
		}
		w.Copies = append(w.Copies, orphan.Copy{Replica: replica, Node: node})
	}
	return nil
}

// readPeers reads what other orphans of the node do, and how many instances the node has.
func (o observer) readPeers(ctx context.Context, _ source, w *orphan.World) error {
	node := w.Orphan.Spec.NodeID
	for offset := int64(-1); offset <= 1; offset++ {
		key := burstKey(node, w.Orphan.CreationTimestamp.Time, o.limits.FloodWindow, offset)
		var siblings v1beta2.OrphanList
		if err := o.listCached(ctx, &siblings, byBurst, key); err != nil {
			return err
		}
		for i := range siblings.Items {
			if s := &siblings.Items[i]; s.UID != w.Orphan.UID {
				w.Siblings = append(w.Siblings, siblingOf(s))
			}
		}
	}
	var managers v1beta2.InstanceManagerList
	if err := o.listCached(ctx, &managers, kube.FieldNode, node); err != nil {
		return err
	}
	for i := range managers.Items {
		w.NodeInstances += countInstances(&managers.Items[i])
	}
	var flying v1beta2.OrphanList
	if err := o.listCached(ctx, &flying, byInFlight, node); err != nil {
		return err
	}
	seen := make([]types.UID, 0, len(flying.Items))
	for i := range flying.Items {
		seen = append(seen, flying.Items[i].UID)
	}
	w.InFlight = o.approvals.count(node, w.Orphan.UID, seen)
	return nil
}

func (o observer) listCached(ctx context.Context, list client.ObjectList, index, key string) error {
	return lookup.ListShared(ctx, o.cached, o.namespace, list, client.MatchingFields{index: key})
}

func siblingOf(s *v1beta2.Orphan) orphan.Sibling {
	rule := ""
	if conditions.IsTrue(s.Status.Conditions, v1beta2.OrphanOrphaned) {
		rule = conditions.Reason(s.Status.Conditions, v1beta2.OrphanOrphaned)
	}
	return orphan.Sibling{
		UID: s.UID, Created: s.CreationTimestamp.Time, Rule: rule,
		Approval:  conditions.Reason(s.Status.Conditions, v1beta2.OrphanCleanupApproved),
		Withdrawn: conditions.IsTrue(s.Status.Conditions, v1beta2.OrphanWithdrawn),
		Data:      s.Spec.OrphanType == v1beta2.OrphanTypeReplicaData, GivenUp: v1beta2.GivenUp(s),
	}
}

func (o observer) readSettings(ctx context.Context, reader source, w *orphan.World) error {
	var value [2]*string
	for i, name := range []string{setting.AutoDeletion, setting.GracePeriod} {
		found, err := lookup.Get(ctx, reader, o.namespace, name, &v1beta2.Setting{})
		if err != nil {
			return err
		}
		if found != nil {
			value[i] = &found.Value
		}
	}
	w.Settings = settingsOf(o.settings.Read(value[0], value[1], w.Orphan.Spec.DataEngine))
	return nil
}

func settingsOf(v setting.Values) orphan.Settings {
	state := func(on bool) orphan.AutoDeletion {
		switch {
		case !v.Known:
			return orphan.Unreadable
		case on:
			return orphan.On
		}
		return orphan.Off
	}
	return orphan.Settings{Instance: state(v.Items.Instance), ReplicaData: state(v.Items.ReplicaData), GracePeriod: v.GracePeriod}
}
