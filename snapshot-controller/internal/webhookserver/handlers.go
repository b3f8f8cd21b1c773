package webhookserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
	"drover.dev/drover/snapshot-controller/internal/webhook"
)

// completer gives a new Snapshot what the controllers would give it later, or refuses it: one question to each creation is
// enough, and it is half of what asking costs.
type completer struct {
	rt      *runkit.Runtime
	volumes *volumes
}

// Handle implements admission.Handler.
func (c *completer) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create || request.Namespace != c.rt.Namespace {
		return count("complete", admission.Allowed(""))
	}
	s, err := decode(request.Object.Raw)
	if err != nil {
		return unanswered(ctx, "complete", err)
	}
	volume, err := c.volumes.find(ctx, s.Spec.Volume)
	if err != nil {
		return unanswered(ctx, "complete", err)
	}
	if refusal := webhook.Refusal(webhook.World{Operation: webhook.Create, New: s, Volume: volume}); refusal != "" {
		return count("complete", admission.Denied(refusal))
	}
	whole, err := completed(request.Object.Raw, s, volume)
	if err != nil {
		return unanswered(ctx, "complete", err)
	}
	return count("complete", admission.PatchResponseFromRaw(request.Object.Raw, whole))
}

// completed is the object with what it lacked; what this version does not know of stays.
func completed(raw []byte, s *v1beta2.Snapshot, volume *v1beta2.Volume) ([]byte, error) {
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &object.Object); err != nil {
		return nil, fmt.Errorf("reading the Snapshot: %w", err)
	}
	lacking, _ := snapshot.Complete(s, volume)
	labels := object.GetLabels()
	for key, value := range lacking.Labels {
		if labels == nil {
			labels = map[string]string{}
		}
		labels[key] = value
	}
	object.SetLabels(labels)
	if lacking.Finalizers != nil {
		object.SetFinalizers(lacking.Finalizers)
	}
	if lacking.OwnerReferences != nil {
		object.SetOwnerReferences(lacking.OwnerReferences)
	}
	out, err := json.Marshal(object.Object)
	if err != nil {
		return nil, fmt.Errorf("rendering the Snapshot: %w", err)
	}
	return out, nil
}

// evaluator refuses what the controllers would not carry out. Creations are put to it only by configurations of before.
type evaluator struct {
	rt      *runkit.Runtime
	volumes *volumes
}

// Handle implements admission.Handler.
func (j *evaluator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Namespace != j.rt.Namespace {
		return count("review", admission.Allowed("")) // no controller manages it
	}
	w, err := j.observe(ctx, request)
	if err != nil {
		return unanswered(ctx, "review", err)
	}
	if refusal := webhook.Refusal(w); refusal != "" {
		return count("review", admission.Denied(refusal))
	}
	return count("review", admission.Allowed(""))
}

// unanswered lets a request pass that could not be evaluated. The API server takes an answer with an error for a refusal, whatever
// its failure policy; the controllers check and repair the same later.
func unanswered(ctx context.Context, name string, err error) admission.Response {
	answers.WithLabelValues(name, "failed").Inc()
	log.FromContext(ctx).Error(err, "a request is allowed without evaluation", "webhook", name)
	return admission.Allowed("").WithWarnings("drover could not check this Snapshot now, and does so later: " + err.Error())
}

func (j *evaluator) observe(ctx context.Context, request admission.Request) (w webhook.World, err error) {
	w.Operation = webhook.Operation(request.Operation)
	if len(request.Object.Raw) > 0 {
		if w.New, err = decode(request.Object.Raw); err != nil {
			return w, err
		}
	}
	if len(request.OldObject.Raw) > 0 {
		if w.Old, err = decode(request.OldObject.Raw); err != nil {
			return w, err
		}
	}
	if w.New == nil && w.Operation != webhook.Delete || w.Old == nil && w.Operation != webhook.Create {
		return w, fmt.Errorf("the request to %s a Snapshot lacks the object itself", strings.ToLower(string(w.Operation)))
	}
	switch w.Operation {
	case webhook.Create:
		w.Volume, err = j.volumes.find(ctx, w.New.Spec.Volume)
	case webhook.Delete:
		reader := volumecontext.Reader{Client: j.rt.Client, Namespace: j.rt.Namespace}
		if w.Clones, err = reader.Clones(ctx, w.Old.Spec.Volume, w.Old.Name); len(w.Clones) > 0 {
			w.Volume, err = j.volumes.find(ctx, w.Old.Spec.Volume)
		}
	}
	return w, err
}

func decode(raw []byte) (*v1beta2.Snapshot, error) {
	s := &v1beta2.Snapshot{}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, fmt.Errorf("reading the Snapshot: %w", err)
	}
	return s, nil
}
