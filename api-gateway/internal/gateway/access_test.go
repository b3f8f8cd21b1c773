package gateway

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

// certify writes a certificate of its own for 127.0.0.1 with that number.
func (e *env) certify(number int64) {
	e.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(e.t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(number), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(e.t, err)
	raw, err := x509.MarshalECPrivateKey(key)
	require.NoError(e.t, err)
	for path, block := range map[string]*pem.Block{e.options.Certificate: {Type: "CERTIFICATE", Bytes: certificate},
		e.options.Key: {Type: "EC PRIVATE KEY", Bytes: raw}} {
		require.NoError(e.t, os.WriteFile(path+".new", pem.EncodeToMemory(block), 0o600))
		require.NoError(e.t, os.Rename(path+".new", path))
	}
}

// secured lets the gateway serve TLS as well, and ask for tokens.
func secured(e *env) {
	directory := e.t.TempDir()
	e.options.TLSAddress, e.options.RequireTokens = freeAddress(e.t), true
	e.options.Certificate, e.options.Key = filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key")
	e.certify(1)
}

// secure sends a request over TLS, with a token unless that is empty.
func (e *env) secure(method, path, token string) (int, string, http.Header) {
	e.t.Helper()
	pool := x509.NewCertPool()
	certificate, err := os.ReadFile(e.options.Certificate)
	require.NoError(e.t, err)
	require.True(e.t, pool.AppendCertsFromPEM(certificate))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(e.t.Context(), method, "https://"+e.options.TLSAddress+path, nil)
	require.NoError(e.t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	require.NoError(e.t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(e.t, err)
	return response.StatusCode, string(body), response.Header
}

// token creates an account, which may do these things with volumes, and a token of it for an audience.
func (e *env) token(account, audience string, verbs ...string) string {
	e.t.Helper()
	sa := &corev1.ServiceAccount{ObjectMeta: e.meta(account)}
	e.create(sa)
	if len(verbs) > 0 {
		e.create(&rbacv1.Role{ObjectMeta: e.meta(account), Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{"volumes"}, Verbs: verbs}}})
		e.create(&rbacv1.RoleBinding{ObjectMeta: e.meta(account),
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: e.namespace}}})
	}
	request := &authenticationv1.TokenRequest{}
	if audience != "" {
		request.Spec.Audiences = []string{audience}
	}
	require.NoError(e.t, e.admin.SubResource("token").Create(e.t.Context(), sa, request))
	return request.Status.Token
}

// from sends a GET without TLS and token from another address of this machine.
func (e *env) from(address, path string) int {
	e.t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(e.t.Context(), testkit.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+path, nil)
	require.NoError(e.t, err)
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// plays creates a pod of an app with an address.
func (e *env) plays(name, app, address string, hostNetwork bool) {
	e.t.Helper()
	pod := &corev1.Pod{ObjectMeta: e.meta(name), Spec: corev1.PodSpec{AutomountServiceAccountToken: new(false), HostNetwork: hostNetwork,
		Containers: []corev1.Container{{Name: "c", Image: "image"}}}}
	pod.Labels = map[string]string{"app": app}
	e.create(pod)
	e.status(pod, map[string]any{"phase": corev1.PodRunning, "podIP": address, "podIPs": []map[string]any{{"ip": address}}})
}

func TestClientsThatCanSendATokenNeedATokenThatTheAPIServerAccepts(t *testing.T) {
	e := newEnv(t, secured)
	volume := e.attachedVolume("vol", "node-1")
	audience := e.options.TokenAudience
	require.Contains(t, e.refused(http.StatusUnauthorized, http.MethodGet, "/v1/volumes", nil), "need TLS and a token")
	code, body, header := e.secure(http.MethodGet, "/v1/volumes", "")
	require.Equal(t, http.StatusUnauthorized, code)
	require.Contains(t, body, "kubectl create token")
	require.Equal(t, "Bearer", header.Get("WWW-Authenticate"))

	of := map[string]string{"forged": "a.b.c", "the API server": e.token("other", "", "get", "list", "delete"),
		"nobody": e.token("nobody", audience), "reader": e.token("reader", audience, "get", "list"),
		"writer": e.token("writer", audience, "delete", "update")}
	for _, c := range []struct {
		token, method, path string
		want                int
		says                string
	}{
		{"forged", http.MethodGet, "/v1/volumes", http.StatusUnauthorized, "does not accept the token"},
		{"the API server", http.MethodGet, "/v1/volumes", http.StatusUnauthorized, "does not accept the token"},
		{"nobody", http.MethodGet, "/v1/schemas", http.StatusOK, "volume"},
		{"nobody", http.MethodGet, "/v1/volumes", http.StatusForbidden, "may not list volumes.longhorn.io"},
		{"nobody", http.MethodGet, "/v1/ws/volumes", http.StatusForbidden, "may not watch volumes.longhorn.io"},
		{"reader", http.MethodGet, "/v1/volumes", http.StatusOK, `"vol"`},
		{"reader", http.MethodGet, "/v1/volumes/vol", http.StatusOK, `"vol"`},
		{"reader", http.MethodGet, "/v1/settings/storage-network", http.StatusForbidden, "may not get settings"},
		{"reader", http.MethodDelete, "/v1/volumes/vol", http.StatusForbidden, "may not delete volumes"},
		{"reader", http.MethodPost, "/v1/volumes/vol?action=detach", http.StatusForbidden, "may not update volumes"},
		{"reader", http.MethodPost, "/v1/volumes", http.StatusForbidden, "may not create volumes"},
		{"reader", http.MethodDelete, "/v1/orphans/o", http.StatusForbidden, "may not delete orphans"},
	} {
		code, body, _ := e.secure(c.method, c.path, of[c.token])
		require.Equal(t, c.want, code, "%s: %s %s: %s", c.token, c.method, c.path, body)
		require.Contains(t, body, c.says)
	}
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKeyFromObject(volume), volume))
	require.Empty(t, e.process.Client.Writes(), "nothing was written")
	code, body, _ = e.secure(http.MethodDelete, "/v1/volumes/vol", of["writer"])
	require.Equal(t, http.StatusOK, code, body)

	many := 0
	for n := range reviewBurst * 3 {
		if code, _, _ := e.secure(http.MethodGet, "/v1/volumes", strings.Repeat("x", n+1)); code == http.StatusTooManyRequests {
			many++
		}
	}
	require.Positive(t, many, "a flood of tokens does not reach the API server")
}

func TestThePodsThatCannotSendATokenNeedNone(t *testing.T) {
	e := newEnv(t, secured)
	e.plays("host", "longhorn-csi-plugin", "127.0.0.3", true)
	e.plays("web", "web", "127.0.0.4", false)
	e.plays("ui", "longhorn-ui", "127.0.0.2", false)
	require.Eventually(t, func() bool { return e.from("127.0.0.2", "/v1/volumes") == http.StatusOK }, testkit.Timeout, testkit.Poll)
	for _, address := range []string{"127.0.0.1", "127.0.0.3", "127.0.0.4"} {
		require.Equal(t, http.StatusUnauthorized, e.from(address, "/v1/volumes"), address)
	}
	require.NoError(t, e.admin.Delete(t.Context(), &corev1.Pod{ObjectMeta: e.meta("ui")}, client.GracePeriodSeconds(0)))
	require.Eventually(t, func() bool { return e.from("127.0.0.2", "/v1/volumes") == http.StatusUnauthorized }, testkit.Timeout, testkit.Poll,
		"the address may belong to another pod now")
}

func TestAChangedCertificateIsServedWithoutARestart(t *testing.T) {
	e := newEnv(t, secured)
	serves := func() *big.Int {
		dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // the number is compared
		connection, err := dialer.DialContext(t.Context(), "tcp", e.options.TLSAddress)
		require.NoError(t, err)
		defer func() { _ = connection.Close() }()
		return connection.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber
	}
	require.EqualValues(t, 1, serves().Int64())
	e.certify(2)
	require.Eventually(t, func() bool { return serves().Int64() == 2 }, testkit.Timeout, testkit.Poll)
}

// TestAPageWhoseNameLeadsHereIsRefused proves that DNS rebinding gets a page nothing.
func TestAPageWhoseNameLeadsHereIsRefused(t *testing.T) {
	e := newEnv(t)
	asks := func(host string, header ...string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.base+"/v1/settings", nil)
		require.NoError(t, err)
		request.Host = host
		for i := 0; i < len(header); i += 2 {
			request.Header.Set(header[i], header[i+1])
		}
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		_ = response.Body.Close()
		return response.StatusCode
	}
	for _, own := range []string{"127.0.0.1:9500", "[::1]:9500", "[::1]", "localhost", "longhorn-backend:9500", "LONGHORN-BACKEND",
		"longhorn-backend." + e.namespace, "longhorn-backend." + e.namespace + ".svc:9500",
		"api-gateway." + e.namespace + ".svc.cluster.local."} {
		require.Equal(t, http.StatusOK, asks(own), own)
	}
	for _, foreign := range []string{"evil.example.com", "longhorn-backend.example.com", "longhorn-backend." + e.namespace + ".svcx",
		"127.0.0.1.example.com", "localhost.example.com"} {
		require.Equal(t, http.StatusForbidden, asks(foreign), foreign)
		require.Equal(t, http.StatusForbidden, asks(foreign, "X-Forwarded-Host", "localhost", "Origin", "http://"+foreign), foreign)
	}
	e.plays("ui", "longhorn-ui", "127.0.0.1", false)
	require.Eventually(t, func() bool { return asks("longhorn.example.com") == http.StatusOK }, testkit.Timeout, testkit.Poll,
		"the interface passes on the name by which a person reached it")
	e.server.options.Hosts = []string{"longhorn.example.com"}
	require.Equal(t, http.StatusOK, asks("longhorn.example.com"))
	require.Equal(t, http.StatusForbidden, asks("evil.example.com"), "also through the interface, once its name is known")
	require.Equal(t, http.StatusForbidden, asks("longhorn-backend", "X-Forwarded-Host", "evil.example.com"))
}
