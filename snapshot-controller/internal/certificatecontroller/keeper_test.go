package certificatecontroller

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	testkit.Main(m)
}

const (
	patience = 60 * time.Second
	poll     = testkit.Poll
	validity = 90 * 24 * time.Hour
)

// world is a namespace with the Secret, and the configurations, which are in none: the tests run one after the other. The
// controllers run as snapshot-controller's ServiceAccount with its generated Role.
type world struct {
	t         *testing.T
	namespace string
	admin     client.WithWatch
	clock     *clocktesting.FakeClock
	store     *Store
	stop      func()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t), clock: clocktesting.NewFakeClock(time.Now()),
		store: &Store{}}
	require.NoError(t, w.admin.Create(t.Context(), w.emptySecret()))
	url, effects := "https://127.0.0.1:1/x", admissionv1.SideEffectClassNone
	hook := admissionv1.WebhookClientConfig{URL: &url}
	meta := metav1.ObjectMeta{Name: ConfigurationName}
	mutating := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []admissionv1.MutatingWebhook{
		{Name: "a.drover.dev", ClientConfig: hook, SideEffects: &effects, AdmissionReviewVersions: []string{"v1"}}}}
	validating := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []admissionv1.ValidatingWebhook{
		{Name: "b.drover.dev", ClientConfig: hook, SideEffects: &effects, AdmissionReviewVersions: []string{"v1"}},
		{Name: "c.drover.dev", ClientConfig: hook, SideEffects: &effects, AdmissionReviewVersions: []string{"v1"}}}}
	for _, c := range []client.Object{mutating, validating} {
		require.NoError(t, w.admin.Create(t.Context(), c))
	}
	t.Cleanup(func() {
		if w.stop != nil {
			w.stop()
		}
		for _, c := range []client.Object{mutating, validating} {
			require.NoError(t, w.admin.Delete(context.Background(), c))
		}
	})
	return w
}

func (w *world) emptySecret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: SecretName}}
}

// start runs the controllers until they are stopped, or cut.
func (w *world) start(at cut.Point, onCut func()) (*cut.Client, chan error) {
	w.t.Helper()
	return w.startAs(testkit.BinaryIdentity(w.t, w.namespace, "snapshot-controller"), at, onCut, Options{Validity: validity})
}

// startAs runs the controllers with an identity until they are stopped, or cut.
func (w *world) startAs(identity *rest.Config, at cut.Point, onCut func(), options Options) (*cut.Client, chan error) {
	w.t.Helper()
	scheme, err := runkit.Scheme()
	require.NoError(w.t, err)
	manager, err := ctrl.NewManager(identity, ctrl.Options{
		Scheme: scheme, Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}}, ByObject: Cached()},
		Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
	})
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	c := cut.New(manager.GetClient(), at, func() { cancel(); onCut() })
	require.NoError(w.t, Setup(&runkit.Runtime{Manager: manager, Client: c, Namespace: w.namespace, Clock: w.clock, Log: logr.Discard()},
		w.store, options))
	go func() { done <- manager.Start(ctx) }()
	w.stop = func() { cancel(); <-done }
	return c, done
}

// enqueues advances the clock and enqueues until the Secret is as wanted.
func (w *world) enqueues(after time.Duration, what string, check func(*corev1.Secret) bool) *corev1.Secret {
	w.t.Helper()
	w.clock.Step(after)
	secret, n := w.emptySecret(), 0
	require.Eventually(w.t, func() bool {
		body := fmt.Appendf(nil, `{"metadata":{"annotations":{"now":"%d"}}}`, n)
		n++
		if n%25 == 1 {
			require.NoError(w.t, w.admin.Patch(w.t.Context(), secret, client.RawPatch(types.MergePatchType, body)))
		}
		require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(secret), secret))
		return check(secret)
	}, patience, poll, what)
	return secret
}

// trusted waits until every webhook trusts exactly these certificates.
func (w *world) trusted(parts ...[]byte) {
	w.t.Helper()
	var bundle []byte
	for _, p := range parts {
		bundle = append(bundle, p...)
	}
	require.Eventually(w.t, func() bool {
		mutating, validating := &admissionv1.MutatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfiguration{}
		require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Name: ConfigurationName}, mutating))
		require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Name: ConfigurationName}, validating))
		for _, is := range append(mutatingBundles(mutating), validatingBundles(validating)...) {
			if string(is) != string(bundle) {
				return false
			}
		}
		return true
	}, patience, poll, "not every webhook trusts it")
}

// life is that of two certificates: made, trusted, served; the next one made, trusted, served.
func (w *world) life() {
	w.t.Helper()
	first := w.enqueues(0, "no certificate is created", func(s *corev1.Secret) bool { return len(s.Data[servingCertificate]) > 0 }).Data
	w.trusted(first[servingCertificate])
	require.Eventually(w.t, func() bool { _, err := w.store.Get(nil); return err == nil }, patience, poll, "it is not served")

	second := w.enqueues(61*24*time.Hour, "the next one is not created",
		func(s *corev1.Secret) bool { return len(s.Data[nextCertificate]) > 0 }).Data
	require.Equal(w.t, first[servingCertificate], second[servingCertificate], "it is served before it is trusted")
	w.trusted(second[servingCertificate], second[nextCertificate])

	third := w.enqueues(2*time.Minute, "the next one is not served",
		func(s *corev1.Secret) bool { return len(s.Data[nextCertificate]) == 0 }).Data
	require.Equal(w.t, second[nextCertificate], third[servingCertificate])
	require.Equal(w.t, second[nextKey], third[servingKey])
	w.trusted(third[servingCertificate], first[servingCertificate])
	require.Eventually(w.t, func() bool {
		served, err := w.store.Get(nil)
		require.NoError(w.t, err)
		return served.Leaf.NotAfter.After(w.clock.Now().Add(validity / 2))
	}, patience, poll, "the old one is served")
}

// ALL-2: whichever write is the last of a process, before it is sent or after it was answered, the next one continues.
func TestTheLifeOfCertificatesIsTheSameWhereverTheControllerDies(t *testing.T) {
	writes := 0
	t.Run("not at all", func(t *testing.T) { writes = run(t, cut.Point{}) })
	require.Equal(t, 9, writes)
	for _, point := range cut.Share(cut.Points(writes), oneCutOf) {
		t.Run(point.String(), func(t *testing.T) { run(t, point) })
	}
}

// run plays the life, restarts the controllers when they are cut, and returns how many writes the first process sent.
func run(t *testing.T, point cut.Point) int {
	w := newWorld(t)
	next := cut.NewSuccession()
	first, done := w.start(point, next.Cut)
	stop := w.stop
	next.Follow(func() {
		<-done
		w.start(cut.Point{}, nil)
	})
	w.life()
	if point.Write > 0 {
		next.Wait(stop)
	}
	return len(first.Writes())
}
