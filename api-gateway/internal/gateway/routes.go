package gateway

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"drover.dev/drover/api-gateway/internal/present"
	"drover.dev/drover/api-gateway/internal/settings"
	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// routes returns all handlers by their pattern.
func (s *server) routes() map[string]handler {
	routes := map[string]handler{
		"GET /{$}":                      s.listVersions,
		"GET /v1/apiversions":           s.listVersions,
		"GET /v1":                       s.getVersion,
		"GET /v1/{$}":                   s.getVersion,
		"GET /v1/apiversions/v1":        s.getVersion,
		"GET /v1/schemas":               s.listSchemas,
		"GET /v1/schemas/{name}":        s.getSchema,
		"GET /v1/volumes/{name}":        s.getVolume,
		"POST /v1/volumes":              s.changing("create", s.createVolume),
		"POST /v1/volumes/{name}":       acting("a volume", s.volumeActions()),
		"DELETE /v1/volumes/{name}":     s.changing("delete", s.deleteVolume),
		"GET /v1/nodes/{name}":          s.getNode,
		"GET /v1/settings/{name}":       s.getSetting,
		"GET /v1/backuptargets/{name}":  s.getBackupTarget,
		"GET /v1/backupvolumes/{name}":  s.getBackupVolume,
		"POST /v1/backupvolumes/{name}": acting("a backup volume", s.backupActions()),
	}
	for name := range s.lists.all {
		routes["GET /v1/"+name] = func(r request) (any, error) { return s.lists.get(r.ctx, name) }
	}
	maps.Copy(routes, s.pageRoutes())
	return routes
}

// version is the description of the API's version: a link for each type.
type version struct{ wire.Meta }

func newVersion(base string) version {
	v := version{wire.NewMeta(base, "apiVersion", wire.Version)}
	v.Links["self"] = base + "/" + wire.Version
	for _, schema := range wire.Schemas(base) {
		v.Links[schema.PluralName] = schema.Links["collection"]
	}
	return v
}

func (s *server) listVersions(r request) (any, error) {
	v := version{wire.NewMeta(r.base, "apiVersion", wire.Version)}
	v.Links["self"] = r.base + "/" + wire.Version
	list := wire.NewCollection(r.address(), "apiVersion", []version{v})
	list.Links["latest"] = v.Links["self"]
	return list, nil
}

func (s *server) getVersion(r request) (any, error) { return newVersion(r.base), nil }

func (s *server) listSchemas(r request) (any, error) {
	return wire.NewCollection(r.address(), "schema", wire.Schemas(r.base)), nil
}

func (s *server) getSchema(r request) (any, error) {
	schema, found := wire.FindSchema(r.base, r.name)
	if !found {
		return nil, notFound("schema", r.name)
	}
	return schema, nil
}

func (s *server) getVolume(r request) (any, error) {
	v, err := find(r.ctx, s.reader, r.name, &v1beta2.Volume{})
	if err != nil {
		return nil, err
	}
	return s.volumeNow(r, v)
}

// volumeNow returns the resource of a volume.
func (s *server) volumeNow(r request, v *v1beta2.Volume) (any, error) {
	kept, err := s.volumes.get(r.ctx, v)
	return text{kept}, err
}

func (s *server) listNodes(r request) (any, error) {
	nodes, err := s.nodes(r)
	if err != nil {
		return nil, err
	}
	out := make([]present.Node, 0, len(nodes))
	for _, n := range nodes {
		address, err := s.reader.addressOf(r.ctx, n.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, present.NewNode(r.base, n, address))
	}
	return newCollection(r, wire.TypeNode, out), nil
}

func (s *server) nodes(r request) ([]*v1beta2.Node, error) {
	var list v1beta2.NodeList
	if err := lookup.ListShared(r.ctx, s.reader.cache, s.reader.namespace, &list); err != nil {
		return nil, err
	}
	return byName(list.Items), nil
}

func (s *server) getNode(r request) (any, error) {
	n, err := find(r.ctx, s.reader, r.name, &v1beta2.Node{})
	if err != nil {
		return nil, err
	}
	address, err := s.reader.addressOf(r.ctx, n.Name)
	return present.NewNode(r.base, n, address), err
}

func (s *server) listSettings(r request) (any, error) {
	var list v1beta2.SettingList
	if err := lookup.ListShared(r.ctx, s.reader.cache, s.reader.namespace, &list); err != nil {
		return nil, err
	}
	stored := map[string]*v1beta2.Setting{}
	for _, one := range pointers(list.Items) {
		stored[one.Name] = one
	}
	var out []present.Setting
	for _, d := range settings.All() {
		out = append(out, present.NewSetting(r.base, d, stored[d.Name()]))
	}
	return newCollection(r, wire.TypeSetting, out), nil
}

// getSetting answers for every known setting: the CSI plugin ends if it gets 404 for one of them.
func (s *server) getSetting(r request) (any, error) {
	d, known := settings.Find(r.name)
	if !known {
		return nil, notFound("setting", r.name)
	}
	stored, err := look(r.ctx, s.reader, r.name, &v1beta2.Setting{})
	if err != nil {
		return nil, err
	}
	return present.NewSetting(r.base, d, stored), nil
}

func (s *server) getBackupTarget(r request) (any, error) {
	return show(r, s.reader, present.NewBackupTarget)
}

// getBackupVolume answers for every name: the CSI plugin asks by the name of the volume, and ends if it gets 404.
func (s *server) getBackupVolume(r request) (any, error) {
	b, err := look(r.ctx, s.reader, r.name, &v1beta2.BackupVolume{})
	if err != nil {
		return nil, err
	}
	if b == nil {
		return present.NewAbsentBackupVolume(r.base, r.name), nil
	}
	return present.NewBackupVolume(r.base, b), nil
}

// newCollection returns all resources of a type.
func newCollection[T any](r request, resourceType string, items []T) wire.Collection {
	return wire.NewCollection(wire.CollectionURL(r.base, resourceType), resourceType, items)
}

// byName returns the addresses of items, which belong to the cache, in the order of their names.
func byName[T any, P object[T]](items []T) []*T {
	out := pointers(items)
	slices.SortFunc(out, func(a, b *T) int { return strings.Compare(P(a).GetName(), P(b).GetName()) })
	return out
}

// errNotDone returns the answer to a call that this gateway does not serve.
func errNotDone(what, why string) error {
	return wire.WithStatus(http.StatusNotImplemented, fmt.Errorf("%s is not done here: %s", what, why))
}

// acting returns a handler that takes the action that the query names; of is the kind of the object.
func acting(of string, actions map[string]handler) handler {
	return func(r request) (any, error) {
		name := r.URL.Query().Get("action")
		if name == "" {
			return nil, wire.WithStatus(http.StatusBadRequest, errNoAction)
		}
		act, known := actions[name]
		if !known {
			return nil, errNotDone("action "+name+" of "+of, "this gateway does not know it")
		}
		return act(r)
	}
}

var errNoAction = errors.New("name the action in the query, as ?action=attach")
