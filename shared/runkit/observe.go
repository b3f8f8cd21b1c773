package runkit

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// observer reads as usual. It logs every write and returns success without sending it. The API server
// never sees the write.
type observer struct {
	client.Client
	log logr.Logger
}

func (o observer) would(verb string, obj client.Object) error {
	o.log.Info("would "+verb, "kind", kindName(o.Scheme(), obj), "namespace", obj.GetNamespace(), "name", obj.GetName())
	return nil
}

func (o observer) wouldPatch(what string, obj client.Object, patch client.Patch) error {
	body, err := patch.Data(obj)
	if err != nil {
		return err
	}
	o.log.Info("would patch "+what, "kind", kindName(o.Scheme(), obj), "namespace", obj.GetNamespace(), "name", obj.GetName(), "patch",
		string(body))
	return nil
}

func (o observer) wouldApply(what string, config runtime.ApplyConfiguration) error {
	o.log.Info("would apply "+what, "configuration", config)
	return nil
}

// Create logs what would be created.
func (o observer) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	return o.would("create", obj)
}

// Delete logs what would be deleted.
func (o observer) Delete(_ context.Context, obj client.Object, _ ...client.DeleteOption) error {
	return o.would("delete", obj)
}

// Update logs what would be updated.
func (o observer) Update(_ context.Context, obj client.Object, _ ...client.UpdateOption) error {
	return o.would("update", obj)
}

// Patch logs what would be patched.
func (o observer) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return o.wouldPatch("object", obj, patch)
}

// Apply logs what would be applied.
func (o observer) Apply(_ context.Context, config runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	return o.wouldApply("object", config)
}

// DeleteAllOf logs what would be deleted.
func (o observer) DeleteAllOf(_ context.Context, obj client.Object, _ ...client.DeleteAllOfOption) error {
	return o.would("delete all of", obj)
}

// Status returns the observing writer of statuses.
func (o observer) Status() client.SubResourceWriter { return observedPart{o, "status"} }

// SubResource returns the observing writer of a subresource; it does not read.
func (o observer) SubResource(name string) client.SubResourceClient {
	return observedReader{observedPart{o, name}, o.Client.SubResource(name)}
}

type observedPart struct {
	observer observer
	name     string
}

func (p observedPart) Create(_ context.Context, obj, _ client.Object, _ ...client.SubResourceCreateOption) error {
	return p.observer.would("create "+p.name+" of", obj)
}

func (p observedPart) Update(_ context.Context, obj client.Object, _ ...client.SubResourceUpdateOption) error {
	return p.observer.would("update "+p.name+" of", obj)
}

func (p observedPart) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	return p.observer.wouldPatch(p.name, obj, patch)
}

func (p observedPart) Apply(_ context.Context, config runtime.ApplyConfiguration, _ ...client.SubResourceApplyOption) error {
	return p.observer.wouldApply(p.name, config)
}

type observedReader struct {
	observedPart
	client.SubResourceReader
}

func kindName(scheme *runtime.Scheme, obj client.Object) string {
	kinds, _, err := scheme.ObjectKinds(obj)
	if err != nil || len(kinds) == 0 {
		return obj.GetObjectKind().GroupVersionKind().Kind
	}
	return kinds[0].Kind
}

// eventLog replaces the recorder of events under --observe.
type eventLog struct{ log logr.Logger }

// Eventf logs the event.
func (e eventLog) Eventf(regarding, _ runtime.Object, eventType, reason, action, note string, args ...any) {
	e.log.Info("would emit an event", "type", eventType, "reason", reason, "action", action, "note", sprintf(note, args))
}
