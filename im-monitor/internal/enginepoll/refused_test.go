package enginepoll_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/shared/api/v1beta2"
)

// refusing is a client of an API server that refuses some writes, as a quota or an admission policy makes it.
type refusing struct {
	client.Client
	refuses func(kind, name string) bool
	refused *atomic.Int32
}

func (r refusing) check(kind, name string) error {
	if !r.refuses(kind, name) {
		return nil
	}
	r.refused.Add(1)
	return apierrors.NewForbidden(schema.GroupResource{Group: v1beta2.GroupVersion.Group, Resource: kind}, name, errors.New("exceeded quota"))
}

func (r refusing) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if err := r.check("create", o.GetName()); err != nil {
		return err
	}
	return r.Client.Create(ctx, o, opts...)
}

func (r refusing) SubResource(name string) client.SubResourceClient {
	return refusingStatus{r.Client.SubResource(name), r}
}

type refusingStatus struct {
	client.SubResourceClient
	refusing refusing
}

func (s refusingStatus) Apply(ctx context.Context, o runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	if named, ok := o.(interface{ GetName() string }); ok {
		if err := s.refusing.check("status", named.GetName()); err != nil {
			return err
		}
	}
	return s.SubResourceClient.Apply(ctx, o, opts...)
}

func (s refusingStatus) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	if err := s.refusing.check("status", o.GetName()); err != nil {
		return err
	}
	return s.SubResourceClient.Patch(ctx, o, patch, opts...)
}

// An error of one object made the polls of its engine twice as rare each time, up to one in 16 minutes: a replica that the engine drops
// stayed RW meanwhile.
func TestARefusedWriteAboutAnotherObjectDelaysNoPoll(t *testing.T) {
	for what, test := range map[string]struct {
		kind, name string
		arrive     func(w *snapshots)
	}{
		"a Snapshot that cannot be created": {"create", "refused", func(w *snapshots) { w.server.holds("refused", true) }},
		"a condition of a Snapshot": {"status", "refused", func(w *snapshots) {
			w.described("refused")
			w.server.do(func() { delete(w.server.snapshots, "refused") })
		}},
		"the state of a Backup": {"status", backupName, func(w *snapshots) { w.wanted() }},
	} {
		t.Run(what, func(t *testing.T) {
			var refused atomic.Int32
			w := newBackups(t)
			w.wrap = func(inner client.Client) client.Client {
				return refusing{inner, func(kind, name string) bool { return kind == test.kind && name == test.name }, &refused}
			}
			w.server.has(addresses[second], ptypes.ReplicaMode_RW)
			w.maps(first, addresses[first], second, addresses[second])
			w.start()
			w.modes(map[string]string{first: v1beta2.ReplicaModeRW, second: v1beta2.ReplicaModeRW})
			test.arrive(w)
			w.eventually("nothing is refused", func() bool { return refused.Load() >= 2 })
			began := time.Now()
			w.polls(40)
			require.Less(t, time.Since(began), 20*time.Second, "a poll is due each 100 to 120 ms")
			w.server.do(func() { w.server.members[1].mode = ptypes.ReplicaMode_ERR })
			began = time.Now()
			w.modes(map[string]string{first: v1beta2.ReplicaModeRW, second: v1beta2.ReplicaModeERR})
			require.Less(t, time.Since(began), 5*time.Second)
		})
	}
}

// What is refused is written once it is allowed, and holds up no other object meanwhile.
func TestAnotherSnapshotIsNotHeldUpByARefusedOne(t *testing.T) {
	var refused atomic.Int32
	var allowed atomic.Bool
	w := newSnapshots(t, lively)
	w.wrap = func(inner client.Client) client.Client {
		return refusing{inner, func(kind, name string) bool { return kind == "create" && name == "refused" && !allowed.Load() }, &refused}
	}
	w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	w.server.holds("refused", true)
	w.eventually("nothing is refused", func() bool { return refused.Load() >= 2 })
	w.server.holds("later", true)
	w.eventually("the other one is not created", func() bool { return w.read("later") != nil })
	require.Nil(t, w.read("refused"))
	allowed.Store(true)
	w.eventually("it is never created", func() bool { return w.read("refused") != nil })
}

// The API server refuses such names, so no object is ever created for these.
func TestASnapshotWhoseNameNoObjectCanHaveHasNone(t *testing.T) {
	w := newSnapshots(t, lively)
	p := w.start()
	w.modes(map[string]string{first: v1beta2.ReplicaModeRW})
	for _, name := range []string{"a..b", "a.-b", "A", "a_b"} {
		w.server.holds(name, true)
	}
	w.server.holds("good", true)
	w.eventually("the other one is not created", func() bool { return w.read("good") != nil })
	w.polls(3)
	require.Equal(t, []string{"create Snapshot good"},
		slices.DeleteFunc(p.client.Writes(), func(s string) bool { return s[:6] != "create" }))
}
