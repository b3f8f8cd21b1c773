package nodecontroller

import (
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A cache that stays behind for longer than writes are remembered leads to no second write.
func TestTheStatusIsWrittenToTheVersionThatWasEvaluated(t *testing.T) {
	admin, namespace := testkit.Admin(t), testkit.Namespace(t)
	n := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "node-1"}}
	require.NoError(t, admin.Create(t.Context(), n))
	s := &reconciler{rt: &runkit.Runtime{Client: admin, Namespace: namespace, Clock: clock.RealClock{}, Log: logr.Discard()},
		written: kube.Written{Clock: clock.RealClock{}}}
	w := node.World{Node: n, Name: n.Name}
	require.NoError(t, s.apply(t.Context(), w, node.Verdict{Status: &node.Status{Zone: "a"}}))
	require.True(t, status.IsConflict(s.apply(t.Context(), w, node.Verdict{Status: &node.Status{Zone: "b"}})))
}
