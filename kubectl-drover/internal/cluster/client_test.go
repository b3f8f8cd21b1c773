package cluster

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// What client-go logs, such as that a watch ended, is not for people: each command says what it lacks.
func TestTheClientLogsNothing(t *testing.T) {
	var logged bytes.Buffer
	klog.LogToStderr(false)
	klog.SetOutput(&logged)
	_, err := Connect(&rest.Config{Host: "https://127.0.0.1:1"}, "longhorn-system", time.Now())
	require.NoError(t, err)
	klog.Error("Unexpected error when reading response body")
	klog.Flush()
	require.Empty(t, logged.String())
}
