package status

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// JSONPatch is a JSON patch (RFC 6902): its operations take effect together, or not at all if a test fails. Paths are JSON pointers, in
// which "/" of a name is "~1".
type JSONPatch []operation

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// Test makes the patch fail unless the path has exactly this value.
func (p *JSONPatch) Test(path string, value any) { *p = append(*p, operation{"test", path, value}) }

// Add adds or replaces the value of a path.
func (p *JSONPatch) Add(path string, value any) { *p = append(*p, operation{"add", path, value}) }

// Remove removes a path, which must exist.
func (p *JSONPatch) Remove(path string) { *p = append(*p, operation{Op: "remove", Path: path}) }

// Write applies the patch to an object, which stays as it is.
func (p JSONPatch) Write(ctx context.Context, c client.Client, obj client.Object) error {
	patch, err := p.render(obj)
	if err != nil {
		return err
	}
	if err := c.Patch(ctx, bare(obj), patch); err != nil {
		return fmt.Errorf("patching %T %s: %w", obj, obj.GetName(), err)
	}
	return nil
}

// WriteStatus applies the patch through the status of an object, which stays as it is.
func (p JSONPatch) WriteStatus(ctx context.Context, c client.Client, obj client.Object) error {
	patch, err := p.render(obj)
	if err != nil {
		return err
	}
	if err := c.Status().Patch(ctx, bare(obj), patch); err != nil {
		return fmt.Errorf("patching status of %T %s: %w", obj, obj.GetName(), err)
	}
	return nil
}

func (p JSONPatch) render(obj client.Object) (client.Patch, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("rendering the patch of %T %s: %w", obj, obj.GetName(), err)
	}
	return client.RawPatch(types.JSONPatchType, body), nil
}
