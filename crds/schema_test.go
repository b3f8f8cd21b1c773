package crds_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestEveryFieldHasASentenceForKubectlExplain(t *testing.T) {
	for file, crd := range definitions(t) {
		walk("", schema(t, crd), func(path string, s apiextensionsv1.JSONSchemaProps) {
			// metadata is Kubernetes' own; elements of lists and maps are described by the list, unless they are objects.
			if path == "metadata" || (isElement(path) && s.Type != "object") {
				return
			}
			if isElement(path) && len(s.Properties) == 0 {
				return
			}
			require.GreaterOrEqual(t, len(strings.Fields(s.Description)), 3, "%s: %s has no sentence", file, path)
			require.Contains(t, s.Description, ".", "%s: %s", file, path)
		})
	}
}

func isElement(path string) bool {
	return strings.HasSuffix(path, "{}") || strings.HasSuffix(path, "[]")
}

// Objects made by a newer or older Longhorn hold fields that are not listed here; the API server must not drop them.
func TestKindsThatExistedBeforeKeepUnknownFieldsInEveryObject(t *testing.T) {
	for file, crd := range definitions(t) {
		walk("", schema(t, crd), func(path string, s apiextensionsv1.JSONSchemaProps) {
			if path == "" || path == "metadata" || s.Type != "object" || s.AdditionalProperties != nil {
				return
			}
			keeps := s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
			if newKinds[crd.Spec.Names.Kind] && !strings.HasSuffix(path, "conditions[]") {
				require.False(t, keeps, "%s: %s of a new kind refuses to guess", file, path)
				return
			}
			require.True(t, keeps, "%s: %s would lose unknown fields", file, path)
		})
	}
}

// Server-side apply from several controllers needs one owner per condition.
func TestConditionListsAreMapsByType(t *testing.T) {
	for file, crd := range definitions(t) {
		walk("", schema(t, crd), func(path string, s apiextensionsv1.JSONSchemaProps) {
			if !strings.HasSuffix(path, "conditions") || s.Type != "array" {
				return
			}
			require.Equal(t, "map", *s.XListType, "%s: %s", file, path)
			require.Equal(t, []string{"type"}, s.XListMapKeys, "%s: %s", file, path)
			require.Equal(t, !newKinds[crd.Spec.Names.Kind], s.Nullable, "%s: %s", file, path)
		})
	}
}

// The Go types read such a field as a number written as text; other text would make whole lists unreadable for every
// controller.
func TestNumbersWrittenAsTextTakeNothingElse(t *testing.T) {
	for file, crd := range definitions(t) {
		walk("", schema(t, crd), func(path string, s apiextensionsv1.JSONSchemaProps) {
			if s.Type == "string" && s.Format == "int64" {
				onlyDigits := slices.ContainsFunc(s.XValidations, func(rule apiextensionsv1.ValidationRule) bool {
					return rule.Rule == `self.matches("^[0-9]{1,18}$")`
				})
				require.True(t, s.Pattern != "" || len(s.Enum) > 0 || onlyDigits, "%s: %s", file, path)
			}
		})
	}
}

func TestEveryRuleSaysWhatToDo(t *testing.T) {
	for file, crd := range definitions(t) {
		walk("", schema(t, crd), func(path string, s apiextensionsv1.JSONSchemaProps) {
			for _, rule := range s.XValidations {
				require.GreaterOrEqual(t, len(strings.Fields(rule.Message)), 5, "%s: %s: %s", file, path, rule.Rule)
			}
		})
	}
}

// testdata/fields.txt lists what clusters of Longhorn hold. A field that is taken from a definition, or gets another type,
// breaks them; further fields do not.
func TestNoFieldThatClustersHoldIsGoneOrOfAnotherType(t *testing.T) {
	fields := map[string]apiextensionsv1.JSONSchemaProps{}
	for _, crd := range definitions(t) {
		walk("", schema(t, crd), func(path string, s apiextensionsv1.JSONSchemaProps) {
			fields[crd.Spec.Names.Kind+" "+path] = s
		})
	}
	raw, err := os.ReadFile("testdata/fields.txt")
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		words := strings.Fields(line)
		require.Contains(t, fields, words[0]+" "+words[1])
		field := fields[words[0]+" "+words[1]]
		require.Equal(t, words[2], field.Type, line)
		require.True(t, field.Nullable || len(words) < 4, line)
	}
}

// unruled are the fields of people that take any value, with the reason.
var unruled = map[string]string{
	"BackingImage spec.sourceParameters": "they depend on the source, and Longhorn alone reads them",
	"Backup spec.labels":                 "they are the backup's own",
	"RecurringJob spec.labels":           "they are the snapshots' and backups' own",
	"RecurringJob spec.name":             "metadata.name counts",
	"Snapshot spec.labels":               "they are the snapshot's own, and their number is bounded",
}

// A field that a person writes has a rule with a sentence, or a list of values, so that a mistake is seen at once.
func TestEveryFieldOfPeopleHasARule(t *testing.T) {
	seen := map[string]bool{}
	for _, crd := range definitions(t) {
		spec, found := schema(t, crd).Properties["spec"]
		if !found {
			continue
		}
		walkWritten("spec", "a person", spec, func(path, writer string, s apiextensionsv1.JSONSchemaProps) {
			field := crd.Spec.Names.Kind + " " + path
			simple := s.Type == "boolean" || len(s.Properties) > 0 || s.Items != nil && len(s.Items.Schema.Properties) > 0
			if simple || !strings.Contains(writer, "person") || len(s.XValidations) > 0 || len(s.Enum) > 0 {
				return
			}
			if s.AdditionalProperties != nil && len(s.AdditionalProperties.Schema.Properties) > 0 {
				return // its objects have rules of their own
			}
			seen[field] = true
			require.NotEmpty(t, unruled[field], "%s takes any value: give it a rule", field)
		})
	}
	for field := range unruled {
		require.True(t, seen[field], "%s has a rule now", field)
	}
}

// walkWritten visits the fields below a schema with who writes them: as the description of the field has it, or of what it belongs to.
func walkWritten(path, writer string, s apiextensionsv1.JSONSchemaProps,
	visit func(path, writer string, s apiextensionsv1.JSONSchemaProps)) {
	if _, named, found := strings.Cut(strings.Join(strings.Fields(s.Description), " "), "Written by "); found {
		writer, _, _ = strings.Cut(named, ";")
	}
	if !isElement(path) {
		visit(path, writer, s)
	}
	for name, property := range s.Properties {
		walkWritten(path+"."+name, writer, property, visit)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		walkWritten(path+"{}", writer, *s.AdditionalProperties.Schema, visit)
	}
	if s.Items != nil && s.Items.Schema != nil {
		walkWritten(path+"[]", writer, *s.Items.Schema, visit)
	}
}
