package machinecontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestWhatHasAnotherOwnerOfTheNameIsAStranger(t *testing.T) {
	t.Parallel()
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: vol, UID: "now"}}
	w := &machine.World{Volume: v}
	list := make([]v1beta2.Replica, 3)
	list[0].Name, list[1].Name, list[2].Name = "r-2", "r-1", "r-3"
	list[1].OwnerReferences = []metav1.OwnerReference{{Kind: "Volume", Name: vol, UID: "now"}}
	list[2].OwnerReferences = []metav1.OwnerReference{{Kind: "Volume", Name: vol, UID: "before"}}
	require.Equal(t, []*v1beta2.Replica{&list[1], &list[0]}, own(w, list))
	require.Equal(t, []metav1.Object{&list[2]}, w.Strangers)
}
