package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// typosPolicy is the policy that warns of a field which no known version has. Definitions keep such fields, because a newer
// Longhorn may mean something by them, so that a field whose name was mistyped would have no effect without a word.
func typosPolicy(crds []*apiextensionsv1.CustomResourceDefinition) string {
	var resources, known []string
	var parts strings.Builder
	for _, crd := range crds {
		spec, hasSpec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		if !hasSpec || spec.XPreserveUnknownFields == nil || crd.Spec.Names.Kind == "Orphan" { // an Orphan's never changes
			continue
		}
		resources = append(resources, crd.Spec.Names.Plural)
		known = append(known, fmt.Sprintf("'%s': %s", crd.Spec.Names.Kind, quoted(spec)))
		writeParts(&parts, crd.Spec.Names.Kind, "spec", "", spec)
	}
	return fmt.Sprintf(typos, strings.Join(resources, ", "), strings.Join(known, ",\n      "), parts.String())
}

// writeParts warns of fields in the objects that the object at the path holds: in itself, in a map or in a list. has are the conditions
// under which the path exists.
func writeParts(b *strings.Builder, kind, path, has string, s apiextensionsv1.JSONSchemaProps) {
	for _, name := range fields(s) {
		of, at := s.Properties[name], path+"."+name
		has := has + fmt.Sprintf("!has(object.%s) || ", at)
		switch {
		case of.AdditionalProperties != nil && len(of.AdditionalProperties.Schema.Properties) > 0:
			part := *of.AdditionalProperties.Schema
			writePart(b, kind, at, has+fmt.Sprintf("object.%[1]s.all(key, object.%[1]s[key].all(field, field in %[2]s))", at, quoted(part)), part)
		case of.Items != nil && len(of.Items.Schema.Properties) > 0:
			part := *of.Items.Schema
			writePart(b, kind, at, has+fmt.Sprintf("object.%s.all(item, item.all(field, field in %s))", at, quoted(part)), part)
		case len(of.Properties) > 0:
			writePart(b, kind, at, has+fmt.Sprintf("object.%s.all(field, field in %s)", at, quoted(of)), of)
			writeParts(b, kind, at, has, of)
		}
	}
}

func writePart(b *strings.Builder, kind, at, rule string, s apiextensionsv1.JSONSchemaProps) {
	fmt.Fprintf(b, `  - expression: >-
      request.kind.kind != '%[1]s' || oldObject != null && oldObject.?%[2]s == object.?%[2]s ||
      %[3]s
    message: "in %[4]s there is a field that no known version of %[1]s has: it has no effect; known are %[5]s"
`, kind, strings.ReplaceAll(at, ".", ".?"), rule, at, strings.Join(fields(s), ", "))
}

func fields(s apiextensionsv1.JSONSchemaProps) []string {
	return slices.Sorted(maps.Keys(s.Properties))
}

func quoted(s apiextensionsv1.JSONSchemaProps) string {
	return "['" + strings.Join(fields(s), "', '") + "']"
}

// What a ticket's parameters may be; the rest of the policy needs them as a list of texts, and for people.
var (
	ticketParameters      = strings.Join(v1beta2.TicketParameters(), "', '")
	ticketParametersShown = strings.Join(v1beta2.TicketParameters(), ", ")
)

var typos = `# Written by docgen from the definitions: a warning for a field that no known version has, and for what has no effect beside the
# rest. Nothing is refused: a newer Longhorn may know it, and what is there stays.
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
%s  - expression: >-
      request.kind.kind != 'VolumeAttachment' || !has(object.spec.attachmentTickets) ||
      oldObject != null && oldObject.?spec.?attachmentTickets == object.?spec.?attachmentTickets ||
      object.spec.attachmentTickets.all(id, !has(object.spec.attachmentTickets[id].parameters) ||
      object.spec.attachmentTickets[id].parameters.all(parameter, parameter in ['` + ticketParameters + `']))
    message: >-
      a ticket in spec.attachmentTickets has a parameter that no known version has: it has no effect; known are
      ` + ticketParametersShown + `
  - expression: >-
      request.kind.kind != 'RecurringJob' || oldObject != null && oldObject.?spec.?parameters == object.?spec.?parameters ||
      !has(object.spec.parameters) || object.spec.parameters.all(parameter, parameter in ['full-backup-interval', 'volume-backup-policy'])
    message: >-
      spec.parameters has a parameter that no known version has: it has no effect; known are full-backup-interval,
      volume-backup-policy
  - expression: >-
      request.kind.kind != 'RecurringJob' || oldObject != null && oldObject.?spec == object.?spec ||
      object.spec.?retentionPolicy.orValue('') == 'age-based' ||
      object.spec.?retainAge.orValue('').matches('^(0+([.]0+)?(ns|us|ms|s|m|h))*$')
    message: "spec.retainAge has no effect unless spec.retentionPolicy is age-based: what is kept is counted, by spec.retain"
  - expression: >-
      request.kind.kind != 'Volume' || !has(object.metadata.labels) || object.metadata.labels.all(label,
      !label.startsWith('recurring-job.longhorn.io/') && !label.startsWith('recurring-job-group.longhorn.io/') ||
      object.metadata.labels[label] == 'enabled' ||
      oldObject != null && oldObject.metadata.?labels[?label].orValue('enabled') == object.metadata.labels[label])
    message: "a label of a recurring job or of its group counts only with the value enabled: set it so, or remove the label"
---
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
