package webhookserver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/testkit"
)

// counter counts what is read of single objects.
type counter struct {
	client.Reader
	reads int
}

func (c *counter) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	c.reads++
	return c.Reader.Get(ctx, key, into, options...)
}

func TestMain(m *testing.M) { testkit.Main(m) }

// Whoever may reach the webhook may ask about volumes that there are not, as often as it likes.
func TestAnUnknownVolumeIsAskedForOnce(t *testing.T) {
	namespace, admin := testkit.Namespace(t), testkit.Admin(t)
	asked := &counter{Reader: admin}
	v := newVolumes(namespace, admin, asked)
	for range 1000 {
		volume, err := v.find(t.Context(), "unknown")
		require.NoError(t, err)
		require.Nil(t, volume)
	}
	require.Less(t, asked.reads, 1000)
	volume := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "somebody", Namespace: namespace}}
	require.NoError(t, admin.Create(t.Context(), volume))
	found, err := v.find(t.Context(), "somebody")
	require.NoError(t, err)
	require.NotNil(t, found)
}

// A request without its object passes unreviewed, and ends nothing.
func TestARequestWithoutItsObjectIsAnswered(t *testing.T) {
	namespace, admin := testkit.Namespace(t), testkit.Admin(t)
	rt := &runkit.Runtime{Namespace: namespace, Client: admin, Uncached: client.Reader(admin)}
	for _, handler := range []admission.Handler{&evaluator{rt, newVolumes(namespace, admin, admin)},
		&completer{rt, newVolumes(namespace, admin, admin)}} {
		for _, operation := range []admissionv1.Operation{admissionv1.Create, admissionv1.Update, admissionv1.Delete} {
			answer := handler.Handle(t.Context(),
				admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: operation, Namespace: namespace}})
			require.True(t, answer.Allowed)
		}
	}
}
