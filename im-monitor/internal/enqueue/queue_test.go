package enqueue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

func TestWhatWakesBeforeTheStartIsForgottenAndWhatComesAfterwardsIsNot(t *testing.T) {
	var q Queue[string]
	q.Add("early")
	q.AddAfter("early", time.Millisecond)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	defer queue.ShutDown()
	require.NoError(t, q.Start(t.Context(), queue))
	q.Add("now", "now")
	q.AddAfter("later", time.Millisecond)
	for _, wanted := range []string{"now", "later"} {
		got, _ := queue.Get()
		require.Equal(t, wanted, got)
		queue.Done(got)
	}
	require.Zero(t, queue.Len())
}
