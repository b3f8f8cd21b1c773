package certificatecontroller

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/snapshot-controller/internal/certificate"
)

// With the rights that the chart leaves, those to read the one Secret: what another program puts there is served, and nothing is written.
func TestACertificateOfAnotherProgramIsServedAndNothingIsWritten(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.admin.Delete(t.Context(), w.emptySecret()), "cert-manager makes it later")
	reads := testkit.Identity(t, w.namespace, "reader", []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"},
		ResourceNames: []string{SecretName}, Verbs: []string{"list", "watch"}}})
	sent, _ := w.startAs(reads, cut.Point{}, nil, Options{Validity: validity, External: true})

	first := w.issued()
	secret := w.emptySecret()
	secret.Type = corev1.SecretTypeTLS
	secret.Data = map[string][]byte{"ca.crt": first.Certificate, servingCertificate: first.Certificate, servingKey: first.Key}
	require.NoError(t, w.admin.Create(t.Context(), secret))
	w.serves(first)

	secret.Data[servingCertificate] = []byte("half a certificate")
	require.NoError(t, w.admin.Update(t.Context(), secret))
	w.serves(first)

	second := w.issued()
	secret.Data = map[string][]byte{"ca.crt": second.Certificate, servingCertificate: second.Certificate, servingKey: second.Key}
	require.NoError(t, w.admin.Update(t.Context(), secret))
	w.serves(second)

	w.clock.Step(2 * validity) // where it expires, its issuer is to act
	require.NoError(t, w.admin.Delete(t.Context(), secret))
	third := w.issued()
	again := w.emptySecret()
	again.Type, again.Data = corev1.SecretTypeTLS, map[string][]byte{servingCertificate: third.Certificate, servingKey: third.Key}
	require.NoError(t, w.admin.Create(t.Context(), again))
	w.serves(third)
	require.Empty(t, sent.Writes())
	require.NoError(t, w.admin.Get(t.Context(), client.ObjectKeyFromObject(again), again))
	require.Len(t, again.Data, 2)
	w.trusted()
}

func (w *world) issued() certificate.Pair {
	w.t.Helper()
	pair, err := certificate.Issue(rand.Reader, Hosts(w.namespace), time.Now(), validity)
	require.NoError(w.t, err)
	return pair
}

// serves waits until a certificate is served.
func (w *world) serves(pair certificate.Pair) {
	w.t.Helper()
	wanted, err := pair.Load()
	require.NoError(w.t, err)
	require.Eventually(w.t, func() bool {
		served, err := w.store.Get(nil)
		return err == nil && served.Leaf.Equal(wanted.Leaf)
	}, patience, poll, "it is not served")
}
