package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// Read is one list of objects that a command asks the API server for. Reads are values, so that the rights of a command are those of
// its reads.
type Read struct {
	// Right is what the API server must allow.
	Right Right
	// Optional reads may fail: the command continues, and reports what it did not see.
	Optional bool

	into    func(*world.World) client.ObjectList
	options []client.ListOption
	// noKind: an API server that does not have the kind has no objects of it.
	noKind bool
}

// Right is the right to list or change objects of one resource.
type Right struct {
	// Group is the API group; empty is that of core.
	Group string `json:"group"`
	// Resource is the plural of the kind, in lower case.
	Resource string `json:"resource"`
	// Verb is list, watch, get, create, patch or delete.
	Verb string `json:"verb"`
	// Everywhere: in all namespaces, or of a kind without one. Otherwise in the namespace of Drover.
	Everywhere bool `json:"everywhere,omitempty"`
	// Without is what the command lacks without the right; empty means that the command fails.
	Without string `json:"without,omitempty"`
}

// Name returns the resource as kubectl writes it: volumes.longhorn.io.
func (r Right) Name() string {
	if r.Group == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}

// Where restricts a read to objects whose field has the value.
func (r Read) Where(field, value string) Read {
	r.options = append(slices.Clone(r.options), client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector(field, value)})
	return r
}

// labelled restricts a read to objects that have the label.
func (r Read) labelled(label string) Read {
	r.options = append(slices.Clone(r.options), client.HasLabels{label})
	return r
}

// Named restricts a read to the object of that name.
func (r Read) Named(name string) Read { return r.Where("metadata.name", name) }

// In reads from another namespace than that of Drover.
func (r Read) In(namespace string) Read {
	r.options = append(slices.Clone(r.options), client.InNamespace(namespace))
	return r
}

// Otherwise makes a read optional; without says what the command lacks then.
func (r Read) Otherwise(without string) Read {
	r.Optional, r.Right.Without = true, without
	return r
}

// orNoKind makes the read of a kind that an API server need not have.
func (r Read) orNoKind() Read {
	r.noKind = true
	return r
}

// AllOtherwise makes all of the reads optional that are not yet; without says what the command lacks without one.
func AllOtherwise(without string, reads ...Read) []Read {
	out := slices.Clone(reads)
	for i := range out {
		if !out[i].Optional {
			out[i] = out[i].Otherwise(without)
		}
	}
	return out
}

// Read fills the lists of a world in parallel.
func (c *Client) Read(ctx context.Context, w *world.World, reads ...Read) error {
	group, ctx := errgroup.WithContext(ctx)
	var mutex sync.Mutex
	for _, read := range reads {
		group.Go(func() error {
			err := c.list(ctx, w, read)
			if err == nil {
				return nil
			}
			if !read.Optional || !absent(err) {
				return err
			}
			mutex.Lock()
			defer mutex.Unlock()
			w.Unread = append(w.Unread, world.Unread{Resource: read.Right.Name(), Reason: err.Error()})
			return nil
		})
	}
	err := group.Wait()
	w.Now = c.Now.Add(c.Ahead())
	slices.SortFunc(w.Unread, func(a, b world.Unread) int { return cmp.Compare(a.Resource, b.Resource) })
	return err
}

// absent reports whether the API server refused the read or does not have the kind, as against not answering.
func absent(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) }

func (c *Client) list(ctx context.Context, w *world.World, read Read) error {
	lists := c.api.List
	if read.Right.Group == v1beta2.GroupVersion.Group {
		lists = c.listOwn(read.Right.Resource)
	}
	err := lists(ctx, read.into(w), c.options(read)...)
	if read.noKind && apierrors.IsNotFound(err) {
		return nil
	}
	return c.explain(err, read.Right)
}

// listOwn lists a resource of longhorn.io. Of thousands of objects most of the time is spent on their JSON, which client-go reads twice:
// once for its kind, which is known here.
func (c *Client) listOwn(resource string) func(context.Context, client.ObjectList, ...client.ListOption) error {
	return func(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
		asked := (&client.ListOptions{}).ApplyOptions(options)
		answer := c.own.Get().NamespaceIfScoped(asked.Namespace, asked.Namespace != "").Resource(resource).
			VersionedParams(asked.AsListOptions(), metav1.ParameterCodec).Do(ctx)
		if err := answer.Error(); err != nil { // it has the API server's sentence, which that of Raw lacks
			return err //nolint:wrapcheck // explain adds what it is about
		}
		text, err := answer.Raw()
		if err != nil {
			return err //nolint:wrapcheck // the same
		}
		if err := json.Unmarshal(text, into); err != nil {
			return fmt.Errorf("reading the API server's answer: %w", err)
		}
		return nil
	}
}

// options restrict a read to what it asks for.
func (c *Client) options(read Read) []client.ListOption {
	var options []client.ListOption
	if !read.Right.Everywhere {
		options = append(options, client.InNamespace(c.Namespace))
	}
	return append(options, read.options...)
}

// explain adds the next step to an answer of the API server.
func (c *Client) explain(err error, right Right) error {
	w, values := c.World(), world.Values{"verb": right.Verb, "resource": right.Name()}
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case apierrors.IsForbidden(err):
		check := "kubectl auth can-i {verb} '{resource}' -n {ns}"
		if right.Everywhere {
			check = "kubectl auth can-i {verb} '{resource}' --all-namespaces"
		}
		return fmt.Errorf("cannot %s %s: %w; check with: %s", right.Verb, right.Name(), err, w.Suggest(check, values))
	case apierrors.IsNotFound(err):
		return fmt.Errorf("the API server has no %s: %w; check with: %s", right.Name(), err, w.Suggest("kubectl get crd {resource}", values))
	default:
		return fmt.Errorf("reading %s: %w; check the API server with: %s", right.Name(), err, w.Suggest("kubectl cluster-info", nil))
	}
}
