package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// Controllers are the binaries of Drover.
var Controllers = []string{"attach-controller", "im-monitor", "orphan-controller", "snapshot-controller", "upgrade-controller"}

// Find returns the one namespace with Drover in it: that with leases of its controllers. It refuses to select one of several, or one
// without. Where leases of all namespaces cannot be listed, it tries the candidates.
func (c *Client) Find(ctx context.Context, candidates ...string) (string, error) {
	w := c.World()
	err := c.Read(ctx, w, LeasesEverywhere)
	searched := "the leases of all namespaces"
	if apierrors.IsForbidden(err) {
		searched = "the leases of " + strings.Join(candidates, ", ") + " (those of all namespaces are forbidden)"
		err = c.readLeasesOf(ctx, w, candidates)
	}
	if err != nil {
		return "", err
	}
	switch found := namespacesOf(w); len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", c.notFound(ctx, searched)
	default:
		return "", fmt.Errorf("there is more than one namespace with Drover: %s; name one with -n", strings.Join(found, ", "))
	}
}

// readLeasesOf reads the leases of some namespaces, one after the other, and skips those that are forbidden.
func (c *Client) readLeasesOf(ctx context.Context, w *world.World, namespaces []string) error {
	for _, namespace := range namespaces {
		in := &Client{Namespace: namespace, Now: c.Now, api: c.api, own: c.own, clock: c.clock}
		one := in.World()
		if err := in.Read(ctx, one, Leases); err != nil && !apierrors.IsForbidden(err) {
			return err
		}
		w.Leases.Items = append(w.Leases.Items, one.Leases.Items...)
	}
	return nil
}

func namespacesOf(w *world.World) []string {
	var found []string
	for i := range w.Leases.Items {
		lease := &w.Leases.Items[i]
		controller, ok := strings.CutPrefix(lease.Name, finding.LeaseOf(""))
		if ok && slices.Contains(Controllers, controller) {
			found = append(found, lease.Namespace)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// notFound names what was searched, and whether there are volumes of a Longhorn without Drover.
func (c *Client) notFound(ctx context.Context, searched string) error {
	message := fmt.Sprintf("found no namespace with Drover: searched %s for %s", searched, strings.Join(leaseNames(), ", "))
	w := c.World()
	if err := c.Read(ctx, w, VolumesEverywhere); err == nil && len(w.Volumes.Items) > 0 {
		namespace := w.Volumes.Items[0].Namespace
		return fmt.Errorf("%s; there are volumes.%s in namespace %s, so a Longhorn may be there: read its objects with: %s",
			message, v1beta2.GroupVersion.Group, namespace, w.Suggest("kubectl drover status -n {name}", world.Values{"name": namespace}))
	}
	return fmt.Errorf("%s; name its namespace with -n, check the cluster with: %s", message, w.Suggest("kubectl cluster-info", nil))
}

func leaseNames() []string {
	var names []string
	for _, controller := range Controllers {
		names = append(names, finding.LeaseOf(controller))
	}
	return names
}
