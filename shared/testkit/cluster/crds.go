package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

const establishTimeout = 2 * time.Minute

// InstallCRDs applies every CustomResourceDefinition in the directory's *.yaml files, one in each file, and returns when
// all are established and in discovery, which is behind that, so that any client can make their objects at once.
func (c *Cluster) InstallCRDs(ctx context.Context, dir string) error {
	crds, err := readCRDs(dir)
	if err != nil {
		return err
	}
	config := c.AdminConfig()
	config.WarningHandler = rest.NoWarnings{} // generated schemas name Go's integer formats, which Kubernetes ignores
	clients, err := apiextensions.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	shown, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client for discovery: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, establishTimeout)
	defer cancel()
	group, installing := errgroup.WithContext(ctx)
	for name, manifest := range crds {
		group.Go(func() error { return installCRD(installing, clients.CustomResourceDefinitions(), name, manifest) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return waitDiscovered(ctx, clients.CustomResourceDefinitions(), shown, crds)
}

// readCRDs returns the definitions as JSON by their names. A file with another kind, such as a kustomization, is no
// definition; a directory without any is an error.
func readCRDs(dir string) (map[string][]byte, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("searching for CRDs: %w", err)
	}
	crds := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading a CRD: %w", err)
		}
		var head metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(data, &head); err != nil {
			return nil, fmt.Errorf("parsing %s: %w", path, err)
		}
		if head.Kind != "CustomResourceDefinition" {
			continue
		}
		if crds[head.Name], err = yaml.YAMLToJSON(data); err != nil {
			return nil, fmt.Errorf("parsing %s: %w", path, err)
		}
	}
	if len(crds) == 0 {
		return nil, fmt.Errorf("no CustomResourceDefinition found in %s", dir)
	}
	return crds, nil
}

func installCRD(
	ctx context.Context, clients apiextensions.CustomResourceDefinitionInterface, name string, manifest []byte,
) error {
	force := true
	options := metav1.PatchOptions{FieldManager: "drover-install", Force: &force}
	crd, err := clients.Patch(ctx, name, types.ApplyPatchType, manifest, options)
	if err != nil {
		return fmt.Errorf("installing CRD %s: %w", name, err)
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !established(crd) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("CRD %s is not established: %w; its conditions: %v", name, ctx.Err(), crd.Status.Conditions)
		case <-tick.C:
		}
		if crd, err = clients.Get(ctx, name, metav1.GetOptions{}); err != nil {
			return fmt.Errorf("reading CRD %s: %w", name, err)
		}
	}
	return nil
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			return condition.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

// waitDiscovered returns when each served version of the definitions is in the list of groups, and its kind in the list of that version:
// clients read both.
func waitDiscovered(
	ctx context.Context, clients apiextensions.CustomResourceDefinitionInterface, shown discovery.DiscoveryInterface, names map[string][]byte,
) error {
	crds, err := clients.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("reading the CRDs: %w", err)
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for _, crd := range crds.Items {
		for _, version := range crd.Spec.Versions {
			in := schema.GroupVersion{Group: crd.Spec.Group, Version: version.Name}.String()
			for names[crd.Name] != nil && version.Served && !discovered(shown, in, crd.Spec.Names.Plural) {
				select {
				case <-ctx.Done():
					return fmt.Errorf("%s is not in discovery as %s: %w", crd.Name, in, ctx.Err())
				case <-tick.C:
				}
			}
		}
	}
	return nil
}

func discovered(shown discovery.DiscoveryInterface, version, plural string) bool {
	groups, err := shown.ServerGroups()
	return err == nil && listsVersion(groups, version) && listsKind(shown, version, plural)
}

func listsVersion(groups *metav1.APIGroupList, version string) bool {
	return slices.ContainsFunc(groups.Groups, func(group metav1.APIGroup) bool {
		return slices.ContainsFunc(group.Versions, func(v metav1.GroupVersionForDiscovery) bool { return v.GroupVersion == version })
	})
}

func listsKind(shown discovery.DiscoveryInterface, version, plural string) bool {
	resources, err := shown.ServerResourcesForGroupVersion(version)
	return err == nil && slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool { return r.Name == plural })
}
