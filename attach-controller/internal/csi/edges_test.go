package csi

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// A volume leaves the node where it was attached; only where that is not known, the driver's present name counts, and last the host's.
func TestTheNodeOfAnAttachmentIsTheOneWhereItWasAttached(t *testing.T) {
	for sentence, c := range map[string]struct {
		attachment Attachment
		driver     string
		want       string
	}{
		"it is attached, and the driver has another name by now": {Attachment{NodeID: "was", HostName: "host", Attached: true}, "is", "was"},
		"it is being deleted":                              {Attachment{NodeID: "was", HostName: "host", Deleting: true}, "is", "was"},
		"it is not attached yet":                           {Attachment{NodeID: "was", HostName: "host"}, "is", "is"},
		"it is not attached, and there is no driver":       {Attachment{NodeID: "was", HostName: "host"}, "", "was"},
		"it is attached where nobody wrote down":           {Attachment{HostName: "host", Attached: true}, "is", "is"},
		"nobody wrote down where, and it is being deleted": {Attachment{HostName: "host", Deleting: true}, "", "host"},
		"the driver is known, and it is being deleted":     {Attachment{HostName: "host", Deleting: true}, "is", "is"},
		"nothing is known, and it is to be attached":       {Attachment{HostName: "host"}, "", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			require.Equal(t, c.want, World{Attachment: c.attachment, DriverNodeID: c.driver}.NodeID())
		})
	}
}

func TestOnlyItsOwnTaintTakesANodeOutOfService(t *testing.T) {
	tainted := func(keys ...string) Host {
		node := &corev1.Node{}
		for _, key := range keys {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key})
		}
		return FromHost(node)
	}
	require.False(t, tainted().OutOfService)
	require.False(t, tainted(corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady).OutOfService)
	require.True(t, tainted(corev1.TaintNodeUnreachable, corev1.TaintNodeOutOfService).OutOfService)
}
