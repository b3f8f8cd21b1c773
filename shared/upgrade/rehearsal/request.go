package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"drover.dev/drover/shared/status"
)

const (
	// parallel is how many requests of one rehearsal are under way at once.
	parallel = 8
	// mostRefused is how many refusals a binary reports; mostText is the length of one.
	mostRefused, mostText = 8, 1024
)

// Request is one write or deletion of an upgrade.
type Request struct {
	// verb is create, patch, "patch the status of" or delete.
	verb   string
	object client.Object
	send   func(ctx context.Context, c client.Client) error
}

// Create returns the creation of an object.
func Create(obj client.Object) Request {
	return Request{"create", obj, func(ctx context.Context, c client.Client) error {
		return c.Create(ctx, obj.DeepCopyObject().(client.Object))
	}}
}

// Patch returns a patch of fields of the spec. A field may keep its value: the API server checks the request all the same.
func Patch(obj client.Object, spec map[string]any) Request {
	return Request{"patch", obj, func(ctx context.Context, c client.Client) error { return status.MergeSpec(ctx, c, obj, spec) }}
}

// PatchStatus returns a patch of fields of the status.
func PatchStatus(obj client.Object, fields map[string]any) Request {
	return Request{"patch the status of", obj, func(ctx context.Context, c client.Client) error {
		return status.MergeStatus(ctx, c, obj, fields)
	}}
}

// Delete returns the deletion of an object. Of an object that does not exist the API server checks
// the role alone.
func Delete(obj client.Object) Request {
	return Request{"delete", obj, func(ctx context.Context, c client.Client) error {
		return c.Delete(ctx, obj.DeepCopyObject().(client.Object))
	}}
}

// Do returns a write that a function sends.
func Do(verb string, obj client.Object, send func(ctx context.Context, c client.Client) error) Request {
	return Request{verb, obj, send}
}

// run sends the requests as dry runs and returns a sentence for each kind of request that is refused. An error means that the
// answer to a request is not known.
func run(ctx context.Context, dry client.Client, requests []Request) ([]string, error) {
	answers := make([]error, len(requests))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, r := range requests {
		group.Go(func() error {
			answers[i] = r.send(groupCtx, dry)
			if answers[i] != nil && !isRefusal(answers[i]) && !isAccepted(answers[i]) {
				return fmt.Errorf("trying to %s %s: %w", r.verb, r.object.GetName(), answers[i])
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return sentences(dry, requests, answers)
}

// sentences returns the first refusal of each verb and kind, in the order of the requests, with the number of the others.
func sentences(c client.Client, requests []Request, answers []error) (out []string, err error) {
	type kind struct{ verb, kind string }
	count := map[kind]int{}
	var order []kind
	first := map[kind]string{}
	for i, r := range requests {
		if !isRefusal(answers[i]) {
			continue
		}
		gvk, err := apiutil.GVKForObject(r.object, c.Scheme())
		if err != nil {
			return nil, fmt.Errorf("finding the kind of %s: %w", r.object.GetName(), err)
		}
		key := kind{r.verb, gvk.Kind}
		if count[key]++; count[key] == 1 {
			order = append(order, key)
			first[key] = fmt.Sprintf("%s %s %s: %v", r.verb, gvk.Kind, r.object.GetName(), answers[i])
		}
	}
	for _, key := range order {
		sentence := shorten(first[key], mostText)
		if more := count[key] - 1; more > 0 {
			sentence += fmt.Sprintf(" (and %d more of this kind)", more)
		}
		out = append(out, sentence)
	}
	return out[:min(len(out), mostRefused)], nil
}

// isRefusal reports whether the API server answered that the request is not allowed, or that the object is not valid. A webhook may refuse
// with any code, and a webhook that does not answer would also refuse the write of the upgrade. No other internal error is a refusal, for
// example a change of etcd's leader.
func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsUnauthorized(err) ||
		apierrors.IsMethodNotSupported(err) || apierrors.IsRequestEntityTooLargeError(err) || isOfWebhook(err)
}

// isOfWebhook reports whether an admission webhook denied the request, or could not be called. Only the text of the answer shows it.
func isOfWebhook(err error) bool {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) {
		return false
	}
	message := answer.Status().Message
	return strings.HasPrefix(message, "admission webhook ") || strings.Contains(message, "failed calling webhook ")
}

// isAccepted reports whether an error shows that only the object is not as the request expects: roles and admission have passed.
func isAccepted(err error) bool {
	return !isOfWebhook(err) && (apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err))
}

// shorten cuts a text to a number of bytes, and never inside of a character.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
