// Package cut ends a controller's writing in the middle, as a crash does. Its Client counts every write in order and,
// at the chosen one, fails before it is sent or after it was answered; from then on the process counts as dead and no
// write of it arrives any more. A test runs a scenario once uncut, learns how many writes it takes, and then runs it
// again for each of them, restarting the controller after the cut.
package cut

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// ErrCut is what every write from the cut on fails with, also the one that was sent.
var ErrCut = errors.New("the process was stopped before this write")

// Point is where to cut. The zero value cuts nowhere.
type Point struct {
	// Write is the number of the write, from 1.
	Write int
	// After lets that write arrive and loses only its answer; otherwise it never arrives.
	After bool
}

// String names the point, as a subtest's name.
func (p Point) String() string {
	if p.After {
		return fmt.Sprintf("after write %d", p.Write)
	}
	return fmt.Sprintf("before write %d", p.Write)
}

// Points returns every point of a scenario of so many writes.
func Points(writes int) []Point {
	var points []Point
	for n := 1; n <= writes; n++ {
		points = append(points, Point{Write: n}, Point{Write: n, After: true})
	}
	return points
}

// Share returns the first of each n points: all points if n is 1. With an odd n, cuts before and after a write alternate.
func Share(points []Point, n int) []Point {
	var share []Point
	for i := 0; i < len(points); i += n {
		share = append(share, points[i])
	}
	return share
}

// Client is a client whose writes are counted, and cut at a point. It is safe for concurrent use.
type Client struct {
	client.Client
	at    Point
	onCut func()

	mutex  sync.Mutex
	dead   bool
	writes []string
	before func()
}

// New wraps a client. onCut, which may be nil, is called once, when the cut happens.
func New(inner client.Client, at Point, onCut func()) *Client {
	return &Client{Client: inner, at: at, onCut: onCut}
}

// BeforeNext has the function called once, right before the next write is sent: what it changes was not seen when that write was decided.
func (c *Client) BeforeNext(call func()) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.before = call
}

// Writes returns what was sent, in order, such as "patch Orphan/status orphan-1". What was evaluated on an older version, and
// refused for that, is none: it is evaluated again, how often depends on who was faster.
func (c *Client) Writes() []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return append([]string(nil), c.writes...)
}

// do sends one write, unless it is cut. Writes are sent one at a time, so that their numbers mean the same in each run.
func (c *Client) do(description string, send func() error) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.dead {
		return ErrCut
	}
	here := c.at.Write == len(c.writes)+1
	if here && !c.at.After {
		return c.cut()
	}
	if before := c.before; before != nil {
		c.before = nil
		before()
	}
	err := send()
	if apierrors.IsConflict(err) {
		return err
	}
	c.writes = append(c.writes, description)
	if here {
		return c.cut()
	}
	return err
}

func (c *Client) cut() error {
	c.dead = true
	if c.onCut != nil {
		c.onCut()
	}
	return ErrCut
}

func (c *Client) describe(verb, subresource string, obj client.Object) string {
	kind := fmt.Sprintf("%T", obj)
	if gvk, err := apiutil.GVKForObject(obj, c.Scheme()); err == nil {
		kind = gvk.Kind
	}
	return fmt.Sprintf("%s %s%s %s", verb, kind, subresource, obj.GetName())
}

// named is the identity of an apply configuration that was built from an unstructured object.
type named interface {
	GetKind() string
	GetName() string
}

func describeApply(subresource string, config runtime.ApplyConfiguration) string {
	if n, ok := config.(named); ok {
		return fmt.Sprintf("apply %s%s %s", n.GetKind(), subresource, n.GetName())
	}
	return fmt.Sprintf("apply %T%s", config, subresource)
}

// Create counts a write.
func (c *Client) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return c.do(c.describe("create", "", obj), func() error { return c.Client.Create(ctx, obj, opts...) })
}

// Delete counts a write.
func (c *Client) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return c.do(c.describe("delete", "", obj), func() error { return c.Client.Delete(ctx, obj, opts...) })
}

// Update counts a write.
func (c *Client) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	return c.do(c.describe("update", "", obj), func() error { return c.Client.Update(ctx, obj, opts...) })
}

// Patch counts a write.
func (c *Client) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return c.do(c.describe("patch", "", obj), func() error { return c.Client.Patch(ctx, obj, patch, opts...) })
}

// Apply counts a write.
func (c *Client) Apply(ctx context.Context, config runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	return c.do(describeApply("", config), func() error { return c.Client.Apply(ctx, config, opts...) })
}

// DeleteAllOf counts a write.
func (c *Client) DeleteAllOf(ctx context.Context, obj client.Object, opts ...client.DeleteAllOfOption) error {
	return c.do(c.describe("delete all", "", obj), func() error { return c.Client.DeleteAllOf(ctx, obj, opts...) })
}

// Status returns a writer whose writes are counted.
func (c *Client) Status() client.SubResourceWriter { return c.SubResource("status") }

// SubResource returns a client whose writes are counted.
func (c *Client) SubResource(name string) client.SubResourceClient {
	return subresource{SubResourceClient: c.Client.SubResource(name), c: c, name: "/" + name}
}

type subresource struct {
	client.SubResourceClient
	c    *Client
	name string
}

// Create counts a write.
func (s subresource) Create(ctx context.Context, obj, sub client.Object, opts ...client.SubResourceCreateOption) error {
	return s.c.do(s.c.describe("create", s.name, obj), func() error { return s.SubResourceClient.Create(ctx, obj, sub, opts...) })
}

// Update counts a write.
func (s subresource) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	return s.c.do(s.c.describe("update", s.name, obj), func() error { return s.SubResourceClient.Update(ctx, obj, opts...) })
}

// Patch counts a write.
func (s subresource) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	return s.c.do(s.c.describe("patch", s.name, obj), func() error { return s.SubResourceClient.Patch(ctx, obj, patch, opts...) })
}

// Apply counts a write.
func (s subresource) Apply(ctx context.Context, config runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	return s.c.do(describeApply(s.name, config), func() error { return s.SubResourceClient.Apply(ctx, config, opts...) })
}
