// Command docgen writes one page of documentation per custom resource: purpose, who writes which fields, the rules that
// the API server keeps, conditions with their reasons, and columns. It reads the generated definitions, the table of
// conditions and the comments of the reasons, so that nothing is written down twice. It also writes the policy that warns of
// fields that no definition has.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	definitions := flag.String("definitions", "crds", "directory of the generated definitions")
	source := flag.String("source", "shared/api/v1beta2", "directory of the Go types, for the comments of the reasons")
	out := flag.String("out", "docs/crds", "directory of the pages")
	flag.Parse()
	if err := generate(*definitions, *source, *out); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

func generate(definitions, source, out string) error {
	crds, err := read(definitions)
	if err != nil {
		return err
	}
	meanings, err := readMeanings(source)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("making the directory of the pages: %w", err)
	}
	for _, crd := range crds {
		if err := write(filepath.Join(out, pageName(crd)), page(crd, meanings)); err != nil {
			return err
		}
	}
	if err := write(filepath.Join(definitions, "policies", "unknown-fields.yaml"), typosPolicy(crds)); err != nil {
		return err
	}
	return write(filepath.Join(out, "README.md"), index(crds))
}

// read returns the definitions in the order of their kinds.
func read(dir string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := filepath.Glob(filepath.Join(dir, "longhorn.io_*.yaml"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no definitions in %s: %w", dir, err)
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading a definition: %w", err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(raw, crd); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		crds = append(crds, crd)
	}
	sort.Slice(crds, func(i, j int) bool { return crds[i].Spec.Names.Kind < crds[j].Spec.Names.Kind })
	return crds, nil
}

func write(file, text string) error {
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("writing a page: %w", err)
	}
	return nil
}

func pageName(crd *apiextensionsv1.CustomResourceDefinition) string {
	return strings.ToLower(crd.Spec.Names.Kind) + ".md"
}
