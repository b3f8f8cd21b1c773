package main

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
)

// put makes a running v1 replica and reports its UUID.
func (w *world) put(name string) string {
	w.t.Helper()
	var answer control.PutAnswer
	w.do("POST", "/v1/instances", control.PutRequest{Instances: []control.Put{{Node: w.node,
		Spec: dataplane.Spec{Name: name, Type: "replica"}}}}, &answer)
	return answer.Instances[0].UUID
}

// with puts a fault in force for the rest of a subtest.
func (w *world) with(t *testing.T, r fault.Rule) {
	t.Helper()
	require.NoError(t, w.control.Do(t.Context(), "POST", "/v1/faults", r, nil))
	t.Cleanup(func() { require.NoError(t, w.control.Do(context.Background(), "DELETE", "/v1/faults", nil, nil)) })
}

func TestEachFaultOnTheWire(t *testing.T) {
	w := newWorld(t, nil)
	instances := imrpc.NewInstanceServiceClient(w.dial(w.pod(dataplane.V1), "8503"))
	for _, name := range []string{"a", "b"} {
		w.put(name)
	}
	t.Run("a lost answer has done its work", func(t *testing.T) {
		uuid := w.put("c")
		w.with(t, fault.Rule{Kind: fault.Error, Method: "InstanceDelete", After: true})
		_, err := instances.InstanceDelete(t.Context(), &imrpc.InstanceDeleteRequest{Name: "c", Uuid: uuid})
		require.Equal(t, codes.Unavailable, status.Code(err))
		require.NotContains(t, names(t, instances), "c")
	})
	t.Run("a call that hangs before its work has not done it", func(t *testing.T) {
		w.with(t, fault.Rule{Kind: fault.Hang, Method: "InstanceDelete"})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := instances.InstanceDelete(ctx, &imrpc.InstanceDeleteRequest{Name: "a"})
		require.Equal(t, codes.DeadlineExceeded, status.Code(err))
		require.Contains(t, names(t, instances), "a")
	})
	t.Run("a partial list lacks what is named, once", func(t *testing.T) {
		w.with(t, fault.Rule{Kind: fault.PartialList, Names: []string{"a"}, Times: 1})
		require.ElementsMatch(t, []string{"b"}, names(t, instances))
		require.ElementsMatch(t, []string{"a", "b"}, names(t, instances))
	})
	t.Run("an empty UUID is reported for whom it is asked", func(t *testing.T) {
		w.with(t, fault.Rule{Kind: fault.EmptyUUID, Names: []string{"a"}})
		list, err := instances.InstanceList(t.Context(), &emptypb.Empty{})
		require.NoError(t, err)
		require.Empty(t, list.Instances["a"].Status.Uuid)
		require.NotEmpty(t, list.Instances["b"].Status.Uuid)
	})
	t.Run("a start can fail inside", func(t *testing.T) {
		w.with(t, fault.Rule{Kind: fault.FailCreate, Message: "no"})
		made, err := instances.InstanceCreate(t.Context(),
			&imrpc.InstanceCreateRequest{Spec: &imrpc.InstanceSpec{Name: "d", Type: "replica",
				PortCount: 10, ProcessInstanceSpec: &imrpc.ProcessInstanceSpec{Binary: "longhorn", Args: []string{"replica"}}}})
		require.NoError(t, err)
		require.Equal(t, "error", made.Status.State)
		require.Equal(t, "no", made.Status.ErrorMsg)
	})
	t.Run("garbage keeps the names and spoils the rest", func(t *testing.T) {
		w.with(t, fault.Rule{Kind: fault.Garbage, Mode: "types", Times: 1})
		list, err := instances.InstanceList(t.Context(), &emptypb.Empty{})
		require.NoError(t, err)
		require.Equal(t, "teapot", list.Instances["a"].Spec.Type)
		w.with(t, fault.Rule{Kind: fault.Garbage, Mode: "huge", Times: 1})
		_, err = instances.InstanceList(t.Context(), &emptypb.Empty{})
		require.Equal(t, codes.ResourceExhausted, status.Code(err))
	})
}

func TestNoticesAreDroppedDoubledAndDelayed(t *testing.T) {
	w := newWorld(t, nil)
	instances := imrpc.NewInstanceServiceClient(w.dial(w.pod(dataplane.V1), "8503"))
	stream := w.watch(instances)
	require.Empty(t, names(t, instances))
	notices := make(chan time.Time, 10)
	go func() {
		for {
			if _, err := stream.Recv(); err != nil {
				return
			}
			notices <- time.Now()
		}
	}()
	w.with(t, fault.Rule{Kind: fault.Events, Mode: "delay", Delay: fault.Duration(50 * time.Millisecond), Times: 1})
	began := time.Now()
	w.put("late")
	require.GreaterOrEqual(t, (<-notices).Sub(began), 50*time.Millisecond)
	w.with(t, fault.Rule{Kind: fault.Events, Mode: "duplicate", Times: 1})
	w.put("double")
	<-notices
	<-notices
	w.with(t, fault.Rule{Kind: fault.Events, Mode: "drop", Times: 1})
	w.put("dropped")
	w.put("reported")
	<-notices
	require.Never(t, func() bool { return len(notices) > 0 }, 50*time.Millisecond, tick, "of two changes one was reported")
}
