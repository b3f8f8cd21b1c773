package runkit

import (
	"net/http"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// mapper remembers where a kind is served. Every read from the cache needs that, to know whether the kind is namespaced;
// without a cache of it this is most of a read's cost. An entry stays valid: a kind does not change its scope.
type mapper struct {
	meta.RESTMapper
	known sync.Map // group, kind and versions → *meta.RESTMapping
}

// newMapper requests from the API server what is not remembered.
func newMapper(config *rest.Config, client *http.Client) (meta.RESTMapper, error) {
	asking, err := apiutil.NewDynamicRESTMapper(config, client)
	if err != nil {
		return nil, err
	}
	return &mapper{RESTMapper: asking}, nil
}

// mapped is the key of a lookup.
type mapped struct {
	kind     schema.GroupKind
	versions string
}

// RESTMapping implements meta.RESTMapper.
func (m *mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	key := mapped{kind: kind}
	if len(versions) > 0 {
		key.versions = strings.Join(versions, " ")
	}
	if known, ok := m.known.Load(key); ok {
		return known.(*meta.RESTMapping), nil
	}
	found, err := m.RESTMapper.RESTMapping(kind, versions...)
	if err != nil {
		return nil, err
	}
	m.known.Store(key, found)
	return found, nil
}
