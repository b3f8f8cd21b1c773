package record

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// backend is a fake API server: it echoes the user, and streams the lines that it is given on a watch.
func backend(t *testing.T, lines <-chan string) (*rest.Config, *atomic.Int64) {
	t.Helper()
	writes := &atomic.Int64{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			writes.Add(1)
		}
		if r.URL.Query().Get("watch") == "" {
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.Path, body)
			return
		}
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		for {
			select {
			case line := <-lines:
				fmt.Fprintln(w, line)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}, writes
}

func proxied(t *testing.T, lines <-chan string) (*API, *Sequence, *atomic.Int64, *http.Client) {
	t.Helper()
	upstream, writes := backend(t, lines)
	sequence := &Sequence{}
	proxy, err := StartAPI(upstream, sequence)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(proxy.CA()))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		require.NoError(t, proxy.Close())
	})
	return proxy, sequence, writes, &http.Client{Transport: transport}
}

func token(account string) string {
	payload := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"system:serviceaccount:longhorn-system:` + account + `"}`))
	return "Bearer x." + payload + ".y"
}

func send(client *http.Client, method, url, account, body string) (string, error) {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", token(account))
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	answer, err := io.ReadAll(response.Body)
	return string(answer), errors.Join(err, response.Body.Close())
}

const orphans = "/apis/longhorn.io/v1beta2/namespaces/longhorn-system/orphans"

func TestRequestsAreClassifiedByTheirEffect(t *testing.T) {
	for _, test := range []struct {
		sentence, method, path string
		want                   Request
	}{
		{"a status patch is a write", "PATCH", orphans + "/o1/status",
			Request{Kind: KindWrite, Verb: "patch", Group: "longhorn.io", Resource: "orphans", Subresource: "status",
				Namespace: "longhorn-system", Object: "o1"}},
		{"a deletion of all is a write", "DELETE", orphans,
			Request{Kind: KindWrite, Verb: "deletecollection", Group: "longhorn.io", Resource: "orphans", Namespace: "longhorn-system"}},
		{"a dry run changes nothing", "POST", orphans + "?dryRun=All",
			Request{Kind: KindReview, Verb: "create", Group: "longhorn.io", Resource: "orphans", Namespace: "longhorn-system"}},
		{"a list is a read", "GET", orphans, Request{Kind: KindRead, Verb: "list", Group: "longhorn.io", Resource: "orphans",
			Namespace: "longhorn-system"}},
		{"a watch is a stream", "GET", "/api/v1/pods?watch=true", Request{Kind: KindWatch, Verb: "watch", Resource: "pods"}},
		{"a lease is counted apart", "PUT", "/apis/coordination.k8s.io/v1/namespaces/n/leases/l",
			Request{Kind: KindLease, Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: "n", Object: "l"}},
		{"an event is counted apart", "POST", "/apis/events.k8s.io/v1/namespaces/n/events",
			Request{Kind: KindEvent, Verb: "create", Group: "events.k8s.io", Resource: "events", Namespace: "n"}},
		{"an access review changes nothing", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			Request{Kind: KindReview, Verb: "create", Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}},
		{"a namespace is an object itself", "DELETE", "/api/v1/namespaces/n",
			Request{Kind: KindWrite, Verb: "delete", Resource: "namespaces", Object: "n"}},
		{"a path without a resource is a read", "GET", "/readyz", Request{Kind: KindRead, Verb: "list"}},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			r := httptest.NewRequest(test.method, test.path, nil)
			r.Header.Set("Authorization", token("im-monitor"))
			test.want.User = "im-monitor"
			require.Equal(t, test.want, parse(r))
		})
	}
}

func TestWatchesAreClosedAndRefused(t *testing.T) {
	lines := make(chan string, 1)
	proxy, _, _, client := proxied(t, lines)
	url := proxy.URL() + orphans + "?watch=true"
	lines <- "first"
	open := make(chan error, 1)
	go func() {
		_, err := send(client, "GET", url, "im-monitor", "")
		open <- err
	}()
	require.Eventually(t, func() bool { return proxy.OpenWatches() == 1 && len(lines) == 0 }, time.Minute, time.Millisecond)
	for refusal, want := range map[Refusal]string{RefuseGone: `"code":410`, RefuseExpired: `{"type":"ERROR","object":{`, RefuseEnd: ""} {
		proxy.RefuseWatches(refusal)
		answer, err := send(client, "GET", url, "im-monitor", "")
		require.NoError(t, err)
		require.Contains(t, answer, want)
		require.Equal(t, want == "", answer == "")
	}
	require.Error(t, <-open, "the watch that was open")
	proxy.AllowWatches()
	require.Zero(t, proxy.OpenWatches())
	require.Equal(t, 4, proxy.Counts().Sum(func(r Request) bool { return r.Kind == KindWatch }), "those that are refused are counted")
}

func TestAWriteIsForwardedNumberedAndRecorded(t *testing.T) {
	proxy, sequence, _, client := proxied(t, nil)
	answer, err := send(client, "PATCH", proxy.URL()+orphans+"/o1/status", "im-monitor", "{}")
	require.NoError(t, err)
	require.Equal(t, "PATCH "+orphans+"/o1/status {}", answer)
	_, err = send(client, "GET", proxy.URL()+orphans, "orphan-controller", "")
	require.NoError(t, err)

	writes := proxy.Writes()
	require.Len(t, writes, 1)
	require.Equal(t, "im-monitor", writes[0].User)
	require.Equal(t, 200, writes[0].Code)
	require.Equal(t, []Step{{Number: 1, Own: 1, Actor: "im-monitor", What: "patch orphans/status o1"}}, sequence.Steps())
	require.Equal(t, 2, proxy.Counts().Sum(func(r Request) bool { return r.Resource == "orphans" }))
}

func TestACutBeforeAWriteDropsItAndACutAfterItDropsTheAnswer(t *testing.T) {
	for side, reached := range map[Side]int64{Before: 1, After: 2} {
		t.Run(side.String(), func(t *testing.T) {
			proxy, sequence, writes, client := proxied(t, nil)
			var killed Step
			sequence.CutAt(2, side, func(s Step) Verdict { killed = s; return Drop })
			_, err := send(client, "POST", proxy.URL()+orphans, "im-monitor", "1")
			require.NoError(t, err)
			_, err = send(client, "DELETE", proxy.URL()+orphans+"/o1", "im-monitor", "")
			require.Error(t, err)
			require.Equal(t, "delete orphans o1", killed.What)
			require.Equal(t, reached, writes.Load())
			require.True(t, sequence.Cut())
		})
	}
}

func TestAPassedCutOnlyDelaysTheWrite(t *testing.T) {
	proxy, sequence, writes, client := proxied(t, nil)
	sequence.CutAt(1, Before, func(Step) Verdict { return Pass })
	_, err := send(client, "POST", proxy.URL()+orphans, "im-monitor", "1")
	require.NoError(t, err)
	require.EqualValues(t, 1, writes.Load())
}

func TestAHookThatRefusesBreaksTheConnection(t *testing.T) {
	proxy, _, writes, client := proxied(t, nil)
	proxy.Before(func(Write) error { return errors.New("no") })
	_, err := send(client, "POST", proxy.URL()+orphans, "im-monitor", "1")
	require.Error(t, err)
	require.Zero(t, writes.Load())
}

func TestAHeldWatchDeliversOnlyWhenReleased(t *testing.T) {
	lines := make(chan string, 4)
	proxy, _, _, client := proxied(t, lines)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", proxy.URL()+orphans+"?watch=1", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", token("im-monitor"))
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	got := make(chan string, 4)
	go func() {
		for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
			got <- scanner.Text()
		}
	}()
	lines <- "one"
	require.Equal(t, "one", <-got)

	proxy.HoldWatches("im-monitor", "orphans")
	lines <- "two"
	select {
	case line := <-got:
		t.Fatalf("the held watch delivered %q", line)
	case <-time.After(50 * time.Millisecond):
	}
	proxy.ReleaseWatches("im-monitor", "orphans")
	require.Equal(t, "two", <-got)
}
