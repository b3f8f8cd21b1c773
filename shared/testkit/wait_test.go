package testkit_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	longhorn "drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

func TestWaitForReturnsTheObjectOnceItIsAsWanted(t *testing.T) {
	admin, setting := testkit.Admin(t), makeSetting(t)
	changed := setting.DeepCopy()
	changed.Value, changed.Finalizers = "false", nil
	var read int
	found := testkit.WaitFor(t, admin, setting, "false and without finalizers", func(s *longhorn.Setting) bool {
		if read++; read == 1 {
			require.NoError(t, admin.Update(t.Context(), changed))
		}
		// A finalizer that has gone must not linger from an earlier read.
		return s.Value == "false" && len(s.Finalizers) == 0
	})
	require.Equal(t, "false", found.Value)
	require.GreaterOrEqual(t, read, 2, "as it was, and as it became")
	require.Equal(t, "true", setting.Value, "the object given is only a name")
}

func TestWaitGoneReturnsOnceTheLastFinalizerIsGone(t *testing.T) {
	admin, setting := testkit.Admin(t), makeSetting(t)
	require.NoError(t, admin.Delete(t.Context(), setting))
	require.NoError(t, admin.Get(t.Context(), client.ObjectKeyFromObject(setting), setting))
	setting.Finalizers = nil
	require.NoError(t, admin.Update(t.Context(), setting))
	testkit.WaitGone(t, admin, setting)
}

func TestAWaitThatFailsShowsTheObject(t *testing.T) {
	admin, setting := testkit.Admin(t), makeSetting(t)
	ctx, cancel := context.WithCancel(t.Context())
	failed := &failingT{TB: t, ctx: ctx}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		testkit.WaitFor(failed, admin, setting, "another value", func(*longhorn.Setting) bool {
			cancel()
			return false
		})
	}()
	<-ended
	require.Contains(t, failed.message, "want another value")
	require.Contains(t, failed.message, `value: "true"`)
}

// failingT is a test that notes why it fails.
type failingT struct {
	testing.TB
	ctx     context.Context
	message string
}

func (f *failingT) Context() context.Context { return f.ctx }

func (f *failingT) Errorf(format string, args ...any) { f.message += fmt.Sprintf(format, args...) }

func (f *failingT) FailNow() { runtime.Goexit() }

// makeSetting makes an object that a finalizer holds.
func makeSetting(t *testing.T) *longhorn.Setting {
	t.Helper()
	setting := &longhorn.Setting{ObjectMeta: metav1.ObjectMeta{
		Namespace: testkit.Namespace(t), Name: "orphan-auto-deletion", Finalizers: []string{longhorn.Finalizer},
	}}
	setting.Value = "true"
	require.NoError(t, testkit.Admin(t).Create(t.Context(), setting))
	return setting
}
