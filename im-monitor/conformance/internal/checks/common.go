package checks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/conformance/internal/target"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// untilGone deletes an instance until the manager does not list it.
func untilGone(ctx context.Context, on *target.Manager, name string, request *imrpc.InstanceDeleteRequest) error {
	var last error
	for {
		list, err := on.Instance.InstanceList(ctx, &emptypb.Empty{})
		if err == nil && list.GetInstances()[name] == nil {
			return nil
		}
		if _, asked := on.Instance.InstanceDelete(ctx, request); asked != nil && status.Code(asked) != codes.NotFound {
			last = asked
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is still listed by %s: %w (%w)", name, on.Host, ctx.Err(), last)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// v1 is a check of a v1 instance manager that starts processes.
func v1(id, name, contract string, run func(v1kit), more ...suite.Need) suite.Check {
	return suite.Check{ID: "v1-" + id, Name: name, Engine: target.V1, Contract: contract, Needs: append([]suite.Need{suite.EngineBinary},
		more...),
		Run: func(t *suite.T) { run(newV1(t)) }}
}

// found marks a check as the answer to findings.
func found(c suite.Check, findings ...string) suite.Check {
	c.Findings = findings
	return c
}

// assumed marks what a check assumes where the contract is silent.
func assumed(c suite.Check, assumption string) suite.Check {
	c.Assumption = assumption
	return c
}

const blockSize = int64(target.BlockSize)

// keys are the names in a map, for messages.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func joined(names []string) string { return strings.Join(names, ", ") }
