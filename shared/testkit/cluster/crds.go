package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

const establishTimeout = 2 * time.Minute

// InstallCRDs applies every CustomResourceDefinition in the directory's *.yaml files, one in each file, and returns when
// all are established, so that their objects can be made at once.
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
	ctx, cancel := context.WithTimeout(ctx, establishTimeout)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	for name, manifest := range crds {
		group.Go(func() error { return installCRD(ctx, clients.CustomResourceDefinitions(), name, manifest) })
	}
	return group.Wait()
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
