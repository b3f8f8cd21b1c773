package runkit

import (
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"
)

// Parts of an earlier run may still log when the next one begins, and klog's logger has no lock.
func TestTheLoggersOfTheProcessAreSetOnce(t *testing.T) {
	setProcessLogger(logr.Discard())
	before := klog.Background()
	var logging sync.WaitGroup
	logging.Go(func() {
		for range 100 {
			klog.Background().V(9).Info("an earlier run still logs")
		}
	})
	taken := false
	for range 100 {
		setProcessLogger(funcr.New(func(string, string) { taken = true }, funcr.Options{}))
	}
	logging.Wait()
	klog.Background().Info("once more")
	require.Equal(t, before, klog.Background())
	require.False(t, taken, "a later run does not take the logger over")
}
