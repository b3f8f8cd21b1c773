package gateway

import (
	"context"
	"fmt"
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/api-gateway/internal/present"
	"drover.dev/drover/api-gateway/internal/settings"
	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// reader reads objects from the cache, and single objects that it lacks from the API server: a second process of the gateway may have
// created them a moment ago. Callers modify no object that it returns.
type reader struct {
	cache, uncached client.Reader
	namespace       string
}

// object is a pointer to the struct of a kind.
type object[T any] interface {
	*T
	client.Object
}

// nilable is an object that can be compared with nil.
type nilable interface {
	client.Object
	comparable
}

// notFound returns the answer to a request about an object that does not exist.
func notFound(kind, name string) error {
	return wire.WithStatus(http.StatusNotFound, fmt.Errorf("there is no %s %q", kind, name))
}

// find reads one object; an error with status 404 if it does not exist.
func find[T nilable](ctx context.Context, r reader, name string, into T) (T, error) {
	var none T
	found, err := look(ctx, r, name, into)
	if err == nil && found == none {
		err = notFound(kindOf(into), name)
	}
	return found, err
}

// show answers with the resource of the object that the path names.
func show[T any, P object[T], R any](r request, from reader, newResource func(base string, of *T) R) (any, error) {
	found, err := find(r.ctx, from, r.name, P(new(T)))
	if err != nil {
		return nil, err
	}
	return newResource(r.base, found), nil
}

// look reads one object; nil if it does not exist.
func look[T nilable](ctx context.Context, r reader, name string, into T) (T, error) {
	var none T
	found, err := lookup.Shared(ctx, r.cache, r.namespace, name, into)
	if err != nil || found != none {
		return found, err
	}
	return lookup.Get(ctx, r.uncached, r.namespace, name, into)
}

// fresh reads one object from the API server: a decision about a write must not rest on a cache that lags, since another process may have
// written a moment ago. It is an error with status 404 if the object does not exist.
func fresh[T nilable](ctx context.Context, r reader, name string, into T) (T, error) {
	var none T
	found, err := lookup.Get(ctx, r.uncached, r.namespace, name, into)
	if err == nil && found == none {
		err = notFound(kindOf(into), name)
	}
	return found, err
}

// volumeFacts reads the objects that a volume's resource is computed from.
func (r reader) volumeFacts(ctx context.Context, v *v1beta2.Volume) (present.VolumeFacts, error) {
	f := present.VolumeFacts{Volume: v}
	var err error
	if f.Engines, err = r.enginesOf(ctx, v.Name); err != nil {
		return f, err
	}
	var frontends v1beta2.EngineFrontendList
	var replicas v1beta2.ReplicaList
	var backups v1beta2.BackupList
	for _, list := range []client.ObjectList{&frontends, &replicas, &backups} {
		if err := lookup.ListShared(ctx, r.cache, r.namespace, list, client.MatchingFields{kube.FieldVolume: v.Name}); err != nil {
			return f, err
		}
	}
	f.Frontends, f.Replicas, f.Backups = pointers(frontends.Items), pointers(replicas.Items), pointers(backups.Items)
	if f.Attachment, err = lookup.Shared(ctx, r.cache, r.namespace, v.Name, &v1beta2.VolumeAttachment{}); err != nil {
		return f, err
	}
	f.Users, err = kube.UsersOf(ctx, r.cache, v.Name)
	return f, err
}

// enginesOf reads the engines of a volume.
func (r reader) enginesOf(ctx context.Context, volume string) ([]*v1beta2.Engine, error) {
	var list v1beta2.EngineList
	if err := lookup.ListShared(ctx, r.cache, r.namespace, &list, client.MatchingFields{kube.FieldVolume: volume}); err != nil {
		return nil, err
	}
	return pointers(list.Items), nil
}

// addressOf returns the IP address of a node's instance manager; empty if it has none.
func (r reader) addressOf(ctx context.Context, node string) (string, error) {
	var list v1beta2.InstanceManagerList
	if err := lookup.ListShared(ctx, r.cache, r.namespace, &list, client.MatchingFields{kube.FieldNode: node}); err != nil {
		return "", err
	}
	for i := range list.Items {
		if ip := list.Items[i].Status.IP; ip != "" {
			return ip, nil
		}
	}
	return "", nil
}

// settingValue returns the value of a setting for a data engine; the default if there is no Setting object.
func (r reader) settingValue(ctx context.Context, name, dataEngine string) (string, error) {
	d, known := settings.Find(name)
	if !known {
		return "", fmt.Errorf("there is no setting %q", name)
	}
	stored, err := lookup.Shared(ctx, r.cache, r.namespace, name, &v1beta2.Setting{})
	if err != nil {
		return "", err
	}
	if stored == nil {
		return d.ValueFor("", dataEngine), nil
	}
	return d.ValueFor(stored.Value, dataEngine), nil
}

// pointers returns the addresses of items, which belong to the cache.
func pointers[T any](items []T) []*T {
	out := make([]*T, 0, len(items))
	for i := range items {
		out = append(out, &items[i])
	}
	return out
}

// kindOf returns the kind of an object for sentences.
func kindOf(o client.Object) string {
	switch o.(type) {
	case *v1beta2.Volume:
		return "volume"
	case *v1beta2.Node:
		return "node"
	case *v1beta2.Snapshot:
		return "snapshot"
	case *v1beta2.Backup:
		return "backup"
	case *v1beta2.BackupTarget:
		return "backup target"
	case *v1beta2.VolumeAttachment:
		return "volume attachment"
	case *v1beta2.Orphan:
		return "orphan"
	case *v1beta2.Replica:
		return "replica"
	case *v1beta2.RecurringJob:
		return "recurring job"
	case *v1beta2.InstanceManager:
		return "instance manager"
	}
	return "object"
}
