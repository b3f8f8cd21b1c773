package leaselock_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"drover.dev/drover/shared/leaselock"
)

const deadline = 12 * time.Second

func fence() (*leaselock.Fence, *clocktesting.FakeClock) {
	clock := clocktesting.NewFakeClock(time.Now())
	return leaselock.NewFence(deadline, clock), clock
}

func TestAFenceRefusesOnceTheStartOfTheLastRenewalIsTooLongAgo(t *testing.T) {
	f, clock := fence()
	require.NoError(t, f.Check(), "before the first lease there is no leader's work")
	f.Renewed(clock.Now())
	clock.Step(deadline - time.Millisecond)
	require.NoError(t, f.Check())
	clock.Step(time.Millisecond)
	require.ErrorIs(t, f.Check(), leaselock.ErrFenced)
	f.Renewed(clock.Now())
	require.NoError(t, f.Check(), "a renewal lifts it")
	f.Close()
	require.ErrorIs(t, f.Check(), leaselock.ErrFenced, "the lease is released")
}

func TestANilFenceAllowsEverything(t *testing.T) {
	var f *leaselock.Fence
	require.NoError(t, f.Check())
	ctx, stop := f.Guard(t.Context())
	defer stop()
	require.NoError(t, ctx.Err())
}

func TestGuardedWorkEndsWhenTheFenceRefusesAndNotWhenItWasRenewed(t *testing.T) {
	f, clock := fence()
	f.Renewed(clock.Now())
	ctx, stop := f.Guard(t.Context())
	defer stop()
	require.Eventually(t, clock.HasWaiters, time.Minute, time.Millisecond)
	clock.Step(deadline / 2)
	f.Renewed(clock.Now())
	clock.Step(deadline / 2)
	require.Eventually(t, clock.HasWaiters, time.Minute, time.Millisecond, "it waits for the renewed deadline")
	require.NoError(t, ctx.Err())
	clock.Step(deadline / 2)
	<-ctx.Done()
	require.ErrorIs(t, context.Cause(ctx), leaselock.ErrFenced)
}

func TestGuardedWorkEndsWhenTheLeaseIsReleasedOrLost(t *testing.T) {
	f, clock := fence()
	f.Renewed(clock.Now())
	ctx, stop := f.Guard(t.Context())
	defer stop()
	require.NoError(t, ctx.Err())
	f.Close()
	<-ctx.Done() // no time passes
	require.ErrorIs(t, context.Cause(ctx), leaselock.ErrFenced)
	late, stopLate := f.Guard(t.Context())
	defer stopLate()
	require.ErrorIs(t, context.Cause(late), leaselock.ErrFenced, "nothing begins after it")
	f.Renewed(clock.Now())
	again, stopAgain := f.Guard(t.Context())
	defer stopAgain()
	require.NoError(t, again.Err())
}

// server counts the writes that arrive.
func server(t *testing.T) (string, *int) {
	writes := 0
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			writes++
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, &writes
}

func send(t *testing.T, client *http.Client, ctx context.Context, method, url string) error {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader("{}"))
	require.NoError(t, err)
	response, err := client.Do(request)
	if err == nil {
		require.NoError(t, response.Body.Close())
	}
	return err
}

func TestAFencedProcessStillReadsButNeverWrites(t *testing.T) {
	f, clock := fence()
	url, writes := server(t)
	client := &http.Client{Transport: f.Transport(http.DefaultTransport)}
	f.Renewed(clock.Now())
	require.NoError(t, send(t, client, t.Context(), http.MethodPatch, url))
	clock.Step(deadline)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		require.ErrorIs(t, send(t, client, t.Context(), method, url), leaselock.ErrFenced)
	}
	require.NoError(t, send(t, client, t.Context(), http.MethodGet, url))
	require.Equal(t, 1, *writes)
}

func TestASecondLeaseFencesTheWorkThatNeedsIt(t *testing.T) {
	own, clock := fence()
	second := leaselock.NewFence(deadline, clock)
	url, writes := server(t)
	client := &http.Client{Transport: own.Transport(http.DefaultTransport)}
	own.Renewed(clock.Now())
	second.Renewed(clock.Now())
	clock.Step(deadline)
	own.Renewed(clock.Now())
	require.ErrorIs(t, send(t, client, second.With(t.Context()), http.MethodPatch, url), leaselock.ErrFenced)
	require.NoError(t, send(t, client, t.Context(), http.MethodPatch, url), "other work continues")
	require.Equal(t, 1, *writes)
}
