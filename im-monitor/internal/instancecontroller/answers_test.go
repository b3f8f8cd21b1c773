package instancecontroller_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/shelltest"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// errLost is the answer that a v2 server with a busy processor gives to one in a thousand calls, although it carried the call out.
var errLost = &imclient.CallError{Method: "InstanceCreate", Address: "scripted", Kind: imclient.ErrFailed,
	Err: errors.New("received nil response during async message send")}

// listed has the server carry out creations and deletions of a name, list an instance that is created in a state, and answer with an error.
func (w *world) listed(im, name, state string, answer error) {
	w.Servers.OnCall(func(_ context.Context, c shelltest.Call) error {
		switch {
		case c.Create != nil && c.Create.Name == name:
			made := inventory.Instance{Name: name, Type: c.Create.Type, DataEngine: "v2", State: state, UUID: "u-7", PortStart: 20100,
				PortEnd: 20104, UUIDSource: imclient.UUIDFromInstanceStatus, DiskUUID: disk}
			if state == v1beta2.InstanceStateError {
				made.PortStart, made.PortEnd, made.ErrorMsg = 0, 0, errLost.Err.Error()
			}
			if c.Create.Type == v1beta2.InstanceTypeEngineFrontend {
				made.Frontend = &imclient.Frontend{EngineName: c.Create.EngineName, Kind: "spdk-tcp-blockdev", ActivePath: c.Create.TargetAddress}
			}
			w.Servers.Put(im, made)
		case c.Delete != nil && c.Delete.Name == name:
			w.Servers.Drop(im, name)
		default:
			return nil
		}
		return answer
	})
}

// kinds lists a replica, an engine and a frontend of a v2 volume that are to run, each with a function that waits for its state.
func (w *world) kinds(node string) map[string]struct {
	object client.Object
	wait   func(state string)
} {
	w.volume("vol", "v2")
	r, e, f := w.replica("vol-r-00000001", "vol", node, "v2"), w.engine("vol-e-0", "vol", node, "v2"), w.frontend("vol-ef-0", "vol", node)
	return map[string]struct {
		object client.Object
		wait   func(state string)
	}{
		"replica":  {r, func(state string) { w.replicaIs(r.Name, state) }},
		"engine":   {e, func(state string) { w.engineIs(e.Name, state) }},
		"frontend": {f, func(state string) { w.frontendIs(f.Name, state) }},
	}
}

// K8: if a server carried out a call in spite of its answer, its list shows that: no instance is created or deleted twice.
func TestWhatWasCarriedOutInSpiteOfItsAnswerIsRead(t *testing.T) {
	w := newWorld(t, "answer-1")
	for kind, k := range w.kinds("answer-1") {
		name := k.object.GetName()
		w.listed(manager("answer-1", "v2"), name, v1beta2.InstanceStateRunning, errLost)
		w.run(k.object)
		k.wait(v1beta2.InstanceStateRunning)
		require.Len(t, w.creations(name), 1, kind)
		w.stop(k.object)
		k.wait(v1beta2.InstanceStateStopped)
		require.Len(t, w.deletions(name), 1, kind)
		require.Len(t, w.creations(name), 1, kind)
	}
}

// K8: an instance that comes up in error shows why. It stays until its object is stopped: then im-monitor ends it, and the next request
// to run creates it again.
func TestAnInstanceThatComesUpInErrorIsShownThenEndedAndCreatedAgain(t *testing.T) {
	w := newWorld(t, "error-1")
	im := manager("error-1", "v2")
	for kind, k := range w.kinds("error-1") {
		name := k.object.GetName()
		for _, answer := range []error{nil, errLost} {
			before := len(w.creations(name))
			w.listed(im, name, v1beta2.InstanceStateError, answer)
			w.run(k.object)
			k.wait(v1beta2.InstanceStateError)
			w.Eventually(func() bool {
				c := w.creation(k.object)
				return c != nil && c.Reason == v1beta2.ReasonInstanceCreationFailure
			}, "%s shows no reason", kind)
			require.Contains(t, w.creation(k.object).Message, errLost.Err.Error(), kind)
			require.Len(t, w.creations(name), before+1, "%s is not created over itself", kind)
			require.True(t, w.holds(im, name), kind)

			w.stop(k.object)
			k.wait(v1beta2.InstanceStateStopped)
			require.False(t, w.holds(im, name), kind)
			w.listed(im, name, v1beta2.InstanceStateRunning, nil)
			w.run(k.object)
			k.wait(v1beta2.InstanceStateRunning)
			require.Len(t, w.creations(name), before+2, kind)
			w.stop(k.object)
			k.wait(v1beta2.InstanceStateStopped)
		}
	}
}

// creation is the condition of an object that reports why it has no instance; nil if there is none.
func (w *world) creation(o client.Object) *v1beta2.Condition {
	now := o.DeepCopyObject().(client.Object)
	if !w.Get(o.GetName(), now) {
		return nil
	}
	var all []v1beta2.Condition
	switch now := now.(type) {
	case *v1beta2.Replica:
		all = now.Status.Conditions
	case *v1beta2.Engine:
		all = now.Status.Conditions
	case *v1beta2.EngineFrontend:
		all = now.Status.Conditions
	}
	return conditions.Get(all, v1beta2.InstanceCreation)
}
