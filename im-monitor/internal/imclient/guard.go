package imclient

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// readSuffixes are how the names of methods without an effect end.
var readSuffixes = []string{"List", "Get", "Status", "Watch", "Log"}

func reads(method string) bool {
	for _, suffix := range readSuffixes {
		if strings.HasSuffix(method, suffix) {
			return true
		}
	}
	return false
}

// guard refuses every call with an effect while MayCall returns an error: nothing is sent, and the code is Canceled: the caller knows no
// outcome and tries again.
func (d *Dialer) guard(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, call grpc.UnaryInvoker,
	options ...grpc.CallOption) error {
	if d.options.MayCall != nil && !reads(method) {
		if err := d.options.MayCall(); err != nil {
			return status.Errorf(codes.Canceled, "%s was not sent: %v", method, err)
		}
	}
	return call(ctx, method, request, reply, conn, options...)
}
