package crds_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestAPIServerAcceptsEveryDefinitionTheCostOfItsRulesIncluded(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, apiextensions.AddToScheme(scheme))
	require.NoError(t, apiextensionsv1.AddToScheme(scheme))
	for file, crd := range definitions(t) {
		t.Run(file, func(t *testing.T) {
			scheme.Default(crd)
			internal := &apiextensions.CustomResourceDefinition{}
			require.NoError(t, scheme.Convert(crd, internal, nil))
			internal.Status.StoredVersions = []string{"v1beta2"}
			require.Empty(t, validation.ValidateCustomResourceDefinition(context.Background(), internal))
		})
	}
}

func TestKustomizationListsEveryDefinitionPolicyAndRole(t *testing.T) {
	raw, err := os.ReadFile("kustomization.yaml")
	require.NoError(t, err)
	var kustomization struct{ Resources []string }
	require.NoError(t, yaml.Unmarshal(raw, &kustomization))
	files, err := filepath.Glob("policies/*.yaml")
	require.NoError(t, err)
	roles, err := filepath.Glob("roles/*.yaml")
	require.NoError(t, err)
	files = append(files, roles...)
	for file := range definitions(t) {
		files = append(files, file)
	}
	require.ElementsMatch(t, files, kustomization.Resources)
}

func TestEveryKindOfTheSchemeHasADefinitionAndTheOtherWayRound(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, v1beta2.AddToScheme(scheme))
	var known, defined []string
	for kind, goType := range scheme.KnownTypes(v1beta2.GroupVersion) {
		// The scheme also registers meta/v1's own options and events into every group.
		if strings.HasSuffix(goType.PkgPath(), "shared/api/v1beta2") && !strings.HasSuffix(kind, "List") {
			known = append(known, kind)
		}
	}
	for _, crd := range definitions(t) {
		defined = append(defined, crd.Spec.Names.Kind)
		require.Contains(t, scheme.KnownTypes(v1beta2.GroupVersion), crd.Spec.Names.ListKind)
	}
	require.ElementsMatch(t, known, defined)
}

func TestEveryKindHasItsShortNameCategoryStatusLabelAndColumns(t *testing.T) {
	shortNames := map[string]string{
		"Volume": "lhv", "Engine": "lhe", "EngineFrontend": "lhef", "Replica": "lhr", "Node": "lhn",
		"InstanceManager": "lhim", "Setting": "lhs", "Orphan": "lho", "Snapshot": "lhsnap", "VolumeAttachment": "lhva",
		"ShareManager": "lhsm", "Backup": "lhb", "BackupTarget": "lhbt", "BackupVolume": "lhbv", "RecurringJob": "lhrj",
		"BackingImage": "lhbi", "EngineImage": "lhei", "BackingImageDataSource": "lhbids",
		"DataEngineUpgradeManager": "lhum", "NodeDataEngineUpgrade": "lhnu",
	}
	for file, crd := range definitions(t) {
		t.Run(file, func(t *testing.T) {
			require.Equal(t, []string{shortNames[crd.Spec.Names.Kind]}, crd.Spec.Names.ShortNames)
			require.Equal(t, []string{"longhorn"}, crd.Spec.Names.Categories)
			require.Equal(t, apiextensionsv1.NamespaceScoped, crd.Spec.Scope)
			require.Equal(t, v1beta2.ContractVersion, crd.Labels[v1beta2.LabelContract])
			version := crd.Spec.Versions[0]
			require.NotNil(t, version.Subresources.Status)
			requireColumns(t, version)
			if crd.Spec.Names.Kind != "Setting" && crd.Spec.Names.Kind != "Node" && crd.Spec.Names.Kind != "BackupTarget" {
				require.NotEmpty(t, version.SelectableFields)
			}
		})
	}
}

// requireColumns: every column's path starts at a declared field, the narrow table ends with the age, and where the
// status has conditions the narrow table explains why.
func requireColumns(t *testing.T, version apiextensionsv1.CustomResourceDefinitionVersion) {
	t.Helper()
	root := *version.Schema.OpenAPIV3Schema
	var narrow []string
	for _, column := range version.AdditionalPrinterColumns {
		if column.JSONPath != ".metadata.creationTimestamp" && column.JSONPath != ".metadata.deletionTimestamp" {
			field, _, _ := strings.Cut(column.JSONPath, "[")
			requireField(t, root, field)
		}
		if column.Priority == 0 {
			narrow = append(narrow, column.Name)
		}
	}
	require.Equal(t, "Age", narrow[len(narrow)-1])
	if _, ok := root.Properties["status"].Properties["conditions"]; ok {
		require.Contains(t, narrow, "Why")
	}
	for _, selectable := range version.SelectableFields {
		requireField(t, root, selectable.JSONPath)
	}
}

func requireField(t *testing.T, s apiextensionsv1.JSONSchemaProps, path string) {
	t.Helper()
	for _, name := range strings.Split(strings.TrimPrefix(path, "."), ".") {
		property, ok := s.Properties[name]
		if !ok && s.AdditionalProperties != nil {
			return
		}
		require.True(t, ok, "no field %s in %s", name, path)
		s = property
	}
}
