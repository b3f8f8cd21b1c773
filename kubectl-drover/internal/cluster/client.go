package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/volumesnapshot"
)

// Client reads and writes the objects of one namespace with Drover in it.
type Client struct {
	// Namespace is that of the custom resources.
	Namespace string
	// Now is the time of the observation by the clock here; that of World is corrected by the API server's.
	Now time.Time
	// Connection are the flags by which the cluster was reached, such as --context prod.
	Connection []string

	api   client.WithWatch
	own   rest.Interface // of longhorn.io
	clock *serverClock
}

// Ahead returns how far the clock of the API server is ahead of the one here, from its last answer; negative: behind.
func (c *Client) Ahead() time.Duration { return c.clock.ahead() }

// World returns a world of the client's namespace, for Read to fill.
func (c *Client) World() *world.World {
	w := &world.World{Namespace: c.Namespace, Now: c.Now.Add(c.Ahead()), Connection: c.Connection}
	w.Definitions.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1",
		Kind: "CustomResourceDefinitionList"})
	return w
}

// requestTimeout is how long one answer may take, unless --request-timeout states it.
const requestTimeout = 30 * time.Second

// Connect returns a client that asks no server for the kinds that it has, so that the first request is the first read. Namespace may be
// empty until Find knows it.
func Connect(config *rest.Config, namespace string, now time.Time) (*Client, error) {
	config = rest.CopyConfig(config)
	config.WarningHandlerWithContext = rest.NoWarnings{}
	log.SetLogger(logr.Discard())  // controller-runtime would complain on stderr that it has none
	klog.SetLogger(logr.Discard()) // client-go would print there that a watch ended, which Follow handles
	if config.Timeout == 0 {
		config.Timeout = requestTimeout
	}
	clock := &serverClock{}
	config.Wrap(clock.wrap)
	config.QPS = -1 // a command is one burst; the API server's own priority and fairness holds
	scheme, err := newScheme()
	if err != nil {
		return nil, fmt.Errorf("registering the kinds: %w", err)
	}
	connection, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client of the API server: %w", err)
	}
	api, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: newMapper(), HTTPClient: connection})
	if err != nil {
		return nil, fmt.Errorf("making a client of the API server: %w", err)
	}
	config.APIPath, config.GroupVersion = "/apis", &v1beta2.GroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	own, err := rest.RESTClientForConfigAndClient(config, connection)
	if err != nil {
		return nil, fmt.Errorf("making a client of the API server: %w", err)
	}
	return &Client{Namespace: namespace, Now: now, api: api, own: own, clock: clock}, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(v1beta2.AddToScheme(scheme), corev1.AddToScheme(scheme), coordinationv1.AddToScheme(scheme),
		appsv1.AddToScheme(scheme), networkingv1.AddToScheme(scheme), authenticationv1.AddToScheme(scheme),
		volumesnapshot.AddToScheme(scheme), metav1.AddMetaToScheme(scheme))
}

// kubernetesKinds are those that are read of Kubernetes' own, with their plurals.
var kubernetesKinds = []struct {
	version schema.GroupVersion
	kind    string
	scope   apimeta.RESTScope
}{
	{corev1.SchemeGroupVersion, "Pod", apimeta.RESTScopeNamespace},
	{corev1.SchemeGroupVersion, "Event", apimeta.RESTScopeNamespace},
	{corev1.SchemeGroupVersion, "PersistentVolumeClaim", apimeta.RESTScopeNamespace},
	{corev1.SchemeGroupVersion, "PersistentVolume", apimeta.RESTScopeRoot},
	{coordinationv1.SchemeGroupVersion, "Lease", apimeta.RESTScopeNamespace},
	{appsv1.SchemeGroupVersion, "Deployment", apimeta.RESTScopeNamespace},
	{authenticationv1.SchemeGroupVersion, "SelfSubjectReview", apimeta.RESTScopeRoot},
	{networkingv1.SchemeGroupVersion, "NetworkPolicy", apimeta.RESTScopeNamespace},
	{volumesnapshot.GroupVersion, "VolumeSnapshotContent", apimeta.RESTScopeRoot},
	{schema.GroupVersion{Group: "apiextensions.k8s.io", Version: "v1"}, "CustomResourceDefinition", apimeta.RESTScopeRoot},
}

// newMapper knows the resource of each kind without asking.
func newMapper() apimeta.RESTMapper {
	mapper := apimeta.NewDefaultRESTMapper(nil)
	for _, k := range kubernetesKinds {
		mapper.Add(k.version.WithKind(k.kind), k.scope)
	}
	scheme := runtime.NewScheme()
	_ = v1beta2.AddToScheme(scheme) // it always succeeds, and newScheme reports it
	for kind := range scheme.KnownTypes(v1beta2.GroupVersion) {
		if !strings.HasSuffix(kind, "List") && !strings.HasSuffix(kind, "Options") && kind != "WatchEvent" {
			mapper.Add(v1beta2.GroupVersion.WithKind(kind), apimeta.RESTScopeNamespace)
		}
	}
	return mapper
}

// Names returns the names of all objects of a resource in the client's namespace, sorted as the API server does.
func (c *Client) Names(ctx context.Context, kind string, right Right) ([]string, error) {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(v1beta2.GroupVersion.WithKind(kind + "List"))
	if err := c.api.List(ctx, &list, client.InNamespace(c.Namespace)); err != nil {
		return nil, c.explain(err, right)
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names, nil
}
