package world

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/testkit/cluster"
)

func (w *World) controlPlane(ctx, _ context.Context) error {
	root, err := root(ctx, w.options.Definitions)
	if err != nil {
		return err
	}
	w.options.Log("starting etcd and kube-apiserver, with the custom resources")
	c, err := cluster.Start(ctx, cluster.Options{Progress: lineWriter(w.options.Log), DataFrom: w.options.DataFrom,
		DataDir:           w.options.DataDir,
		CRDs:              filepath.Join(root, "crds"),
		Audit:             w.options.Audit,
		ControllerManager: w.options.Kubernetes, ControllerManagerFlags: managerFlags})
	if err != nil {
		return err
	}
	w.cluster, w.Config = c, c.AdminConfig()
	scheme, err := runkit.Scheme()
	if err != nil {
		return err
	}
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return fmt.Errorf("building the scheme: %w", err)
	}
	if w.Admin, err = client.NewWithWatch(w.Config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("building the client: %w", err)
	}
	if err := w.namespace(ctx); err != nil || !w.options.Policies {
		return err
	}
	return w.InstallPolicies(ctx)
}

// InstallPolicies installs the admission policies beside the definitions. The API server obeys them a moment later.
func (w *World) InstallPolicies(ctx context.Context) error {
	root, err := root(ctx, w.options.Definitions)
	if err != nil {
		return err
	}
	return w.installAll(ctx, filepath.Join(root, "crds", "policies"))
}

// RemovePolicies removes what InstallPolicies installed.
func (w *World) RemovePolicies(ctx context.Context) error {
	root, err := root(ctx, w.options.Definitions)
	if err != nil {
		return err
	}
	return w.forAll(ctx, filepath.Join(root, "crds", "policies"), func(ctx context.Context, object *unstructured.Unstructured) error {
		return client.IgnoreNotFound(w.Admin.Delete(ctx, object))
	})
}

// namespace creates the namespace, the objects that a real cluster has in it, and the identities of the controllers.
func (w *World) namespace(ctx context.Context) error {
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: w.Namespace}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "longhorn-service-account", Namespace: w.Namespace}},
		w.backend(),
	} {
		if err := w.Admin.Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("creating %s: %w", object.GetName(), err)
		}
	}
	settings := map[string]string{
		"default-instance-manager-image": Image,
		"default-engine-image":           EngineImage,
		"v1-data-engine":                 "true",
		"v2-data-engine":                 v2Enabled(),
	}
	if w.options.Disks { // all hosts are directories of one machine, which may be nearly full
		settings["storage-minimal-available-percentage"], settings["storage-reserved-percentage-for-default-disk"] = "0", "0"
	}
	for name, value := range settings {
		if err := w.Set(ctx, name, value); err != nil {
			return err
		}
	}
	controllers := w.Controllers()
	if w.options.Disks {
		controllers = append(controllers, DiskController)
	}
	for _, controller := range controllers {
		if err := w.Install(ctx, controller); err != nil {
			return err
		}
	}
	return nil
}

// backend returns what Kubernetes writes while the Service that the CSI plugin asks leads to a ready pod.
func (w *World) backend() *discoveryv1.EndpointSlice {
	const service = "longhorn-backend"
	return &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: service + "-1", Namespace: w.Namespace,
		Labels: map[string]string{discoveryv1.LabelServiceName: service}}, AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}}}}
}

// AdminKubeconfig writes a kubeconfig for manual use.
func (w *World) AdminKubeconfig() (string, error) {
	path := filepath.Join(w.Dir, "admin.kubeconfig")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, w.cluster.AdminKubeconfig(path)
}

// lineWriter returns a writer that logs each line.
func lineWriter(logf func(string, ...any)) io.Writer { return logWriter{logf} }

type logWriter struct{ logf func(string, ...any) }

// Write logs every line.
func (s logWriter) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		s.logf("%s", strings.TrimRight(line, "\n"))
	}
	return len(p), nil
}

// InstanceManager is the name of the instance manager of a node and data engine.
func (w *World) InstanceManager(node, dataEngine string) string {
	return v1beta2.InstanceManagerName(node, Image, dataEngine)
}

// Audited returns every request that the API server has answered so far; the World must have been started with Audit.
func (w *World) Audited() ([]cluster.Request, error) { return w.cluster.AuditedRequests() }
