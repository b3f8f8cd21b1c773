package certificate

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const validity = 90 * 24 * time.Hour

var (
	start = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	hosts = []string{"hook.system.svc", "127.0.0.1"}
)

func pair(t *testing.T, at time.Time) Pair {
	t.Helper()
	p, err := Issue(rand.Reader, hosts, at, validity)
	require.NoError(t, err)
	return p
}

func days(n int) time.Time { return start.Add(time.Duration(n) * 24 * time.Hour) }

func bundle(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func TestTheLifeOfACertificate(t *testing.T) {
	first, second := pair(t, start), pair(t, days(45))
	alone, both := bundle(first.Certificate), bundle(first.Certificate, second.Certificate)
	w := func(at time.Time, change func(*World)) World {
		out := World{Now: at, Serving: first, Hosts: hosts, Validity: validity, Bundles: [][]byte{alone, alone}}
		change(&out)
		return out
	}
	for sentence, c := range map[string]struct {
		world   World
		verdict Verdict
	}{
		"without one there is one at once":        {w(start, func(w *World) { w.Serving = Pair{} }), Verdict{Step: StepIssue}},
		"so there is for one that cannot be read": {w(start, func(w *World) { w.Serving.Key = []byte("?") }), Verdict{Step: StepIssue}},
		"and for one that has expired":            {w(days(90), func(*World) {}), Verdict{Step: StepIssue}},
		"what is served must be trusted": {w(start, func(w *World) { w.Bundles[1] = nil }),
			Verdict{Step: StepTrust, Bundle: alone}},
		"without a configuration nothing is created": {w(start, func(w *World) { w.Serving, w.Bundles = Pair{}, nil }),
			Verdict{Step: StepNone}},
		"for half of its time it stays": {w(days(44), func(*World) {}),
			Verdict{Step: StepNone, Bundle: alone, RequeueAt: days(45)}},
		"then the next is made": {w(days(45), func(*World) {}), Verdict{Step: StepIssueNext, Bundle: alone}},
		"or when it is for others": {w(start, func(w *World) { w.Hosts = []string{"other"} }),
			Verdict{Step: StepIssueNext, Bundle: alone}},
		"that is trusted first": {w(days(45), func(w *World) { w.Next = second }),
			Verdict{Step: StepTrust, Bundle: both}},
		"for a while": {w(days(45), func(w *World) { w.Next, w.Bundles = second, [][]byte{both, both} }),
			Verdict{Step: StepNone, Bundle: both, RequeueAt: days(45).Add(time.Minute)}},
		"and served then": {w(days(45).Add(time.Minute), func(w *World) { w.Next, w.Bundles = second, [][]byte{both, both} }),
			Verdict{Step: StepPromote, Bundle: both}},
		"the one before stays trusted": {w(days(46), func(w *World) {
			w.Serving, w.Previous, w.Bundles = second, first.Certificate, [][]byte{bundle(second.Certificate, first.Certificate)}
		}), Verdict{Step: StepNone, Bundle: bundle(second.Certificate, first.Certificate), RequeueAt: days(90)}},
		"a next one that cannot be read is made again": {w(days(45), func(w *World) { w.Next = Pair{Certificate: []byte("?")} }),
			Verdict{Step: StepIssueNext, Bundle: alone}},
	} {
		t.Run(sentence, func(t *testing.T) { require.Equal(t, c.verdict, Decide(c.world)) })
	}
}

// A client that trusts the bundle reaches a server with any certificate of it, by name and by address.
func TestABundleIsTrusted(t *testing.T) {
	first, second := pair(t, time.Now()), pair(t, time.Now())
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(bundle(first.Certificate, second.Certificate)))
	for _, p := range []Pair{first, second} {
		loaded, err := p.Load()
		require.NoError(t, err)
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.TLS = &tls.Config{Certificates: []tls.Certificate{*loaded}}
		server.StartTLS()
		for _, name := range []string{"", hosts[0]} {
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: name}}}
			response, err := client.Get(server.URL)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			client.CloseIdleConnections()
		}
		server.Close()
	}
}

// However it is begun, every certificate that is ever served was trusted before, and one that can be is always served.
func TestNoRequestIsRefusedByAChange(t *testing.T) {
	w := World{Now: start, Hosts: hosts, Validity: validity, Bundles: [][]byte{nil}}
	for range 60 {
		v := Decide(w)
		switch v.Step {
		case StepNone:
			require.True(t, v.RequeueAt.After(w.Now))
			w.Now = v.RequeueAt
		case StepTrust:
			w.Bundles[0] = v.Bundle
		case StepIssueNext:
			w.Next, w.Previous = pair(t, w.Now), nil
		case StepPromote:
			require.Contains(t, string(w.Bundles[0]), string(w.Next.Certificate))
			w.Previous = w.Serving.Certificate
			w.Serving, w.Next = w.Next, Pair{}
		case StepIssue:
			require.Empty(t, w.Serving.Key, "one expired although the controller ran")
			w.Serving = pair(t, w.Now)
		}
		if len(w.Bundles[0]) > 0 {
			require.Contains(t, string(w.Bundles[0]), string(w.Serving.Certificate))
		}
	}
	require.True(t, w.Now.After(days(400)), "it stops at %s", w.Now)
}
