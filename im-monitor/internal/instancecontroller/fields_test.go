package instancecontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestAnInstancesFirstOwnerComesWithItsFirstStatus(t *testing.T) {
	const stopped, node = v1beta2.InstanceStateStopped, "node-1"
	on := func(node, owner string) []client.Object {
		e, f, r := &v1beta2.Engine{}, &v1beta2.EngineFrontend{}, &v1beta2.Replica{}
		e.Spec.NodeID, f.Spec.NodeID, r.Spec.NodeID = node, node, node
		e.Status.OwnerID, f.Status.OwnerID, r.Status.OwnerID = owner, owner, owner
		return []client.Object{e, f, r}
	}
	for name, c := range map[string]struct {
		objects       []client.Object
		before, after instance.Status
		down          bool
		want          any
	}{
		"the first status":      {on(node, ""), instance.Status{}, instance.Status{State: stopped}, false, node},
		"a later status":        {on(node, ""), instance.Status{State: stopped}, instance.Status{State: "starting"}, false, nil},
		"no state is known yet": {on(node, ""), instance.Status{}, instance.Status{}, false, nil},
		"it has no node":        {on("", ""), instance.Status{}, instance.Status{State: stopped}, false, nil},
		"its node is down":      {on(node, ""), instance.Status{}, instance.Status{State: stopped}, true, nil},
		"it has an owner":       {on(node, "node-2"), instance.Status{}, instance.Status{State: stopped}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, o := range c.objects {
				fields := map[string]any{}
				withOwner(fields, o, c.before, c.after, c.down)
				require.Equal(t, c.want, fields["ownerID"], "%T", o)
			}
		})
	}
}
