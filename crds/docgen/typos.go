package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// typosPolicy is the policy that warns of a field which no known version has. Definitions keep such fields, because a newer
// Longhorn may mean something by them, so that a field whose name was mistyped would have no effect without a word.
func typosPolicy(crds []*apiextensionsv1.CustomResourceDefinition) string {
	var resources, known, parts []string
	for _, crd := range crds {
		spec, hasSpec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		if !hasSpec || spec.XPreserveUnknownFields == nil || crd.Spec.Names.Kind == "Orphan" { // an Orphan's never changes
			continue
		}
		resources = append(resources, crd.Spec.Names.Plural)
		known = append(known, fmt.Sprintf("'%s': %s", crd.Spec.Names.Kind, quoted(spec)))
		for _, name := range fields(spec) {
			if of := spec.Properties[name]; of.AdditionalProperties != nil && len(of.AdditionalProperties.Schema.Properties) > 0 {
				parts = append(parts, partOf(crd.Spec.Names.Kind, name, *of.AdditionalProperties.Schema))
			}
		}
	}
	return fmt.Sprintf(typos, strings.Join(resources, ", "), strings.Join(known, ",\n      "), strings.Join(parts, ""))
}

// partOf warns of a field in the objects of a map, such as the disks of a node.
func partOf(kind, name string, s apiextensionsv1.JSONSchemaProps) string {
	return fmt.Sprintf(`  - expression: >-
      request.kind.kind != '%[1]s' || !has(object.spec.%[2]s) ||
      object.spec.%[2]s.all(key, object.spec.%[2]s[key].all(field, field in %[3]s))
    message: "in spec.%[2]s there is a field that no known version of %[1]s has: it has no effect; known are %[4]s"
`, kind, name, quoted(s), strings.Join(fields(s), ", "))
}

func fields(s apiextensionsv1.JSONSchemaProps) []string {
	return slices.Sorted(maps.Keys(s.Properties))
}

func quoted(s apiextensionsv1.JSONSchemaProps) string {
	return "['" + strings.Join(fields(s), "', '") + "']"
}

const typos = `# Written by docgen from the definitions: a warning for a field that no known version has. Nothing is refused: a newer Longhorn
# may know it, and what is there stays.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: unknown-fields.longhorn.io
  labels:
    drover.dev/contract: "1"
spec:
  failurePolicy: Ignore
  matchConstraints:
    resourceRules:
    - apiGroups: [longhorn.io]
      apiVersions: [v1beta2]
      operations: [CREATE, UPDATE]
      resources: [%s]
  matchConditions:
  - name: has-a-spec
    expression: has(object.spec)
  variables:
  - name: known
    expression: >-
      {%s}[request.kind.kind]
  - name: unknown
    expression: >-
      object.spec.filter(field, !(field in variables.known) && (oldObject == null || !has(oldObject.spec) || !(field in oldObject.spec)))
  validations:
  - expression: variables.unknown.size() == 0
    messageExpression: >-
      "spec." + variables.unknown[0] + " is a field that no known version of " + request.kind.kind + " has: it has no effect; " +
      "kubectl explain " + request.resource.resource + ".longhorn.io.spec lists the fields"
%s---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: unknown-fields.longhorn.io
  labels:
    drover.dev/contract: "1"
spec:
  policyName: unknown-fields.longhorn.io
  validationActions: [Warn]
`
