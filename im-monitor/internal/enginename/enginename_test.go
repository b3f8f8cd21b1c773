package enginename_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/im-monitor/internal/enginename"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestUnaccountedNamesAreAroundTheObjects(t *testing.T) {
	engine := func(name, state string) v1beta2.Engine {
		return v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1beta2.EngineStatus{CurrentState: state}}
	}
	names := func(earlier int, engines ...v1beta2.Engine) []string {
		hasBegun := func(e *v1beta2.Engine) bool { return e.Status.CurrentState == "running" }
		return slices.Collect(enginename.Unaccounted("vol", engines, hasBegun, earlier))
	}
	engines := []v1beta2.Engine{engine("vol-e-3", "running"), engine("vol-e-4", "stopped"), engine("other", "running")}
	next := []string{"vol-e-5", "vol-e-6", "vol-e-7", "vol-e-8", "vol-e-9", "vol-e-10", "vol-e-11", "vol-e-12"}
	require.Equal(t, append([]string{"vol-e-2", "vol-e-4"}, next...), names(2, engines...))
	require.Equal(t, append([]string{"vol-e-0", "vol-e-1", "vol-e-2", "vol-e-4"}, next...), names(enginename.All, engines...))
	require.Len(t, names(enginename.All), 9)
	require.Empty(t, names(1, engine("vol-e-9223372036854775807", "")))
}
