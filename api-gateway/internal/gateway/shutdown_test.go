package gateway

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

// slow is a client whose creations wait.
type slow struct {
	client.Client
	begun, release chan struct{}
}

// Create implements client.Client.
func (s slow) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	close(s.begun)
	<-s.release
	return s.Client.Create(ctx, o, options...)
}

// A gateway is ended at each update while requests are under way. What was begun is done and answered: the client would otherwise not know
// whether its volume exists.
func TestARequestUnderWayIsAnsweredWhenTheProcessEnds(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	e := newEnv(t, func(e *env) {
		e.wrap = func(inner client.Client) client.Client { return slow{inner, begun, release} }
	})
	stream := e.dial("/v1/ws/1s/volumes")
	e.next(stream)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.base+"/v1/volumes",
		strings.NewReader(`{"name": "begun", "size": "1Gi"}`))
	require.NoError(t, err)
	answered := make(chan int, 1)
	go func() {
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			answered <- 0
			return
		}
		_ = response.Body.Close()
		answered <- response.StatusCode
	}()
	<-begun
	began := time.Now()
	e.process.Stop()
	require.Eventually(t, func() bool {
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", e.options.Address)
		if err == nil {
			_ = connection.Close()
		}
		return err != nil
	}, testkit.Timeout, testkit.Poll, "new requests go to other processes")
	_, _, err = stream.Read(t.Context())
	require.Error(t, err, "streams end, and their clients go to other processes")
	close(release)
	require.Equal(t, http.StatusOK, <-answered)
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKey{Namespace: e.namespace, Name: "begun"}, &v1beta2.Volume{}))
	require.NoError(t, e.process.Wait())
	require.Less(t, time.Since(began), handleTimeout)
}
