package crds_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
)

// longhornObjects reads the objects of another Longhorn's cluster.
func longhornObjects(t *testing.T, namespace string) []*unstructured.Unstructured {
	t.Helper()
	raw, err := os.ReadFile("testdata/longhorn-objects.yaml")
	require.NoError(t, err)
	var objects []*unstructured.Unstructured
	for _, manifest := range strings.Split(string(raw), "\n---\n")[1:] {
		objects = append(objects, parse(t, namespace, manifest))
	}
	return objects
}

// store creates the object and its status, as two writers would.
func (w writer) store(object *unstructured.Unstructured) error {
	wanted, found := object.Object["status"]
	if err := w.client.Create(w.t.Context(), object); err != nil || !found {
		return err
	}
	object.Object["status"] = wanted
	return w.client.Status().Update(w.t.Context(), object)
}

// writeLikeAController writes to the object in each of the ways that Drover's controllers have.
func (w writer) writeLikeAController(object *unstructured.Unstructured, hasConditions, hasMutableSpec bool) {
	w.t.Helper()
	ctx := w.t.Context()
	fields := map[string]any{"observedGeneration": object.GetGeneration()}
	if hasConditions {
		own := conditions.Set(nil, v1beta2.Condition{Type: "Probe", Status: v1beta2.ConditionTrue, Reason: "Written"}, time.Now())
		fields["conditions"] = status.ConditionsField(own)
	}
	require.NoError(w.t, status.Apply(ctx, w.client, object, "im-monitor", fields))
	require.NoError(w.t, status.Apply(ctx, w.client, object, "im-monitor", fields))
	require.NoError(w.t, status.MergeStatus(ctx, w.client, object, map[string]any{"probe": map[string]any{"a": "b"}}))
	if hasMutableSpec {
		require.NoError(w.t, status.MergeSpec(ctx, w.client, object, map[string]any{"probe": map[string]any{"a": nil}}))
	}
	require.NoError(w.t, w.client.Get(ctx, client.ObjectKeyFromObject(object), object))
	object.SetFinalizers(append(object.GetFinalizers(), "drover.dev/probe"))
	require.NoError(w.t, w.client.Update(ctx, object))
	require.NoError(w.t, status.DropFinalizer(ctx, w.client, object, "drover.dev/probe"))
	require.NoError(w.t, w.client.Get(ctx, client.ObjectKeyFromObject(object), object))
}

// requireKept: everything that was there is there, at every depth; elements of condition lists are found by their type.
func requireKept(t *testing.T, path string, before, after any) {
	t.Helper()
	switch before := before.(type) {
	case nil: // null is nothing to lose
	case map[string]any:
		require.IsType(t, before, after, path)
		for key, value := range before {
			requireKept(t, path+"."+key, value, after.(map[string]any)[key])
		}
	case []any:
		require.IsType(t, before, after, path)
		for i, value := range before {
			requireKept(t, path+"[]", value, elementOf(after.([]any), i, value))
		}
	default:
		require.Equal(t, before, after, path)
	}
}

func elementOf(list []any, index int, like any) any {
	if condition, ok := like.(map[string]any); ok && condition["type"] != nil {
		for _, element := range list {
			if element.(map[string]any)["type"] == condition["type"] {
				return element
			}
		}
	}
	if index < len(list) {
		return list[index]
	}
	return nil
}

// Every kind, every declared field filled, and in every object at every depth an undeclared field.
func TestUnknownFieldsAtEveryDepthSurviveTheWritesOfOurControllers(t *testing.T) {
	for file, crd := range definitions(t) {
		if newKinds[crd.Spec.Names.Kind] {
			continue
		}
		t.Run(file, func(t *testing.T) {
			w := newWriter(t)
			root := schema(t, crd)
			object := filled(t, w.namespace, crd)
			unstructured.RemoveNestedField(object.Object, "status", "observedGeneration") // ours to change
			before := object.DeepCopy().Object
			require.NoError(t, w.store(object))
			_, hasConditions := root.Properties["status"].Properties["conditions"]
			_, hasSpec := root.Properties["spec"]
			w.writeLikeAController(object, hasConditions, hasSpec && crd.Spec.Names.Kind != "Orphan")
			for _, part := range []string{"spec", "status", "value"} {
				requireKept(t, part, before[part], object.Object[part])
			}
			w.requireTyped(object)
		})
	}
}

// requireTyped: the Go type reads every declared field of the object that the API server holds.
func (w writer) requireTyped(object *unstructured.Unstructured) {
	w.t.Helper()
	typed, err := w.client.Scheme().New(object.GroupVersionKind())
	require.NoError(w.t, err)
	require.NoError(w.t, w.client.Get(w.t.Context(), client.ObjectKeyFromObject(object), typed.(client.Object)))
	raw, err := json.Marshal(typed)
	require.NoError(w.t, err)
	var read map[string]any
	require.NoError(w.t, json.Unmarshal(raw, &read))
	for _, part := range []string{"spec", "status", "value"} {
		requireKept(w.t, part, withoutUndeclared(object.Object[part]), read[part])
	}
}

func withoutUndeclared(value any) any {
	if list, ok := value.([]any); ok {
		var declared []any
		for _, element := range list {
			declared = append(declared, withoutUndeclared(element))
		}
		return declared
	}
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	declared := map[string]any{}
	for key, field := range object {
		if key != "fromANewerVersion" && key != "probe" && key != "observedGeneration" {
			declared[key] = withoutUndeclared(field)
		}
	}
	if len(declared) == 0 {
		return nil
	}
	return declared
}

// obeying are the values of a filled object that rules ask for, by the field's path.
var obeying = map[string]map[string]any{
	"Node": {"spec.disks.sample.diskType": "block", "spec.disks.sample.initialize": "new", "spec.disks.sample.path": "/dev/sdb"},
	"Volume": {"spec.accessMode": "rwx", "spec.revertRequestedAt": "2026-01-31T09:30:00Z", "spec.dataSource": "vol://other",
		"spec.fromBackup": "s3://bucket@region/?backup=b&volume=v", "spec.rebuildConcurrentSyncLimit": int64(5)},
	"VolumeAttachment": {"spec.attachmentTickets.sample.type": "longhorn-api"},
	"RecurringJob":     {"spec.retainAge": "72h", "spec.cron": "30 2 * * *"},
	"BackingImage":     {"spec.checksum": strings.Repeat("0a", 64)},
	"Backup":           {"spec.syncRequestedAt": "2026-01-31T09:30:00Z"},
	"BackupTarget": {"spec.backupTargetURL": "s3://bucket@region/", "spec.pollInterval": "5m0s",
		"spec.syncRequestedAt": "2026-01-31T09:30:00Z"},
	"Replica": {"spec.failedAt": "2026-01-31T09:30:00Z"},
}

// filled makes an object with every declared field and undeclared ones beside them.
func filled(t *testing.T, namespace string, crd *apiextensionsv1.CustomResourceDefinition) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{}}
	for name, property := range schema(t, crd).Properties {
		if name == "spec" || name == "status" || name == "value" {
			object.Object[name] = fill(property)
		}
	}
	object.SetAPIVersion("longhorn.io/v1beta2")
	object.SetKind(crd.Spec.Names.Kind)
	object.SetNamespace(namespace)
	object.SetName("sample")
	if crd.Spec.Names.Kind == "Orphan" {
		spec := object.Object["spec"].(map[string]any)
		spec["orphanType"] = "replica-instance"
		spec["parameters"] = map[string]any{"InstanceName": "a", "InstanceUUID": "b", "InstanceManager": "c", "Hint": "d"}
	}
	for path, value := range obeying[crd.Spec.Names.Kind] {
		require.NoError(t, unstructured.SetNestedField(object.Object, value, strings.Split(path, ".")...))
	}
	return object
}

func fill(s apiextensionsv1.JSONSchemaProps) any {
	switch {
	case len(s.Enum) > 0:
		allowed := strings.Trim(string(s.Enum[0].Raw), `"`)
		if allowed == "" {
			allowed = strings.Trim(string(s.Enum[1].Raw), `"`)
		}
		return allowed
	case s.Type == "boolean":
		return true
	case s.Type == "integer":
		return int64(7)
	case s.Type == "array":
		return []any{fill(*s.Items.Schema)}
	case s.Type == "object" && s.AdditionalProperties != nil:
		return map[string]any{"sample": fill(*s.AdditionalProperties.Schema)}
	case s.Type == "object":
		object := map[string]any{"fromANewerVersion": map[string]any{"deep": []any{int64(1), map[string]any{"deeper": "yes"}}}}
		for name, property := range s.Properties {
			object[name] = fill(property)
		}
		return object
	case s.Format == "int64":
		return "7"
	default:
		return "sample"
	}
}
