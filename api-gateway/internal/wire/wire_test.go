package wire

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinksBeginWhereTheClientReachedTheServer(t *testing.T) {
	for _, c := range []struct {
		name, manager, want string
		header              map[string]string
	}{
		{"directly", "", "http://longhorn-backend:9500", nil},
		{"through the proxy of the interface", "", "http://ui.example.com:8000", map[string]string{"X-Forwarded-Host": "ui.example.com:8000"}},
		{"through a proxy with TLS", "", "https://ui.example.com",
			map[string]string{"X-Forwarded-Host": "ui.example.com, inner", "X-Forwarded-Proto": "https,http", "X-Forwarded-Port": "443"}},
		{"through a port of its own", "", "https://ui.example.com:8443",
			map[string]string{"X-Forwarded-Host": "ui.example.com", "X-Forwarded-Proto": "https", "X-Forwarded-Port": "8443"}},
		{"by the address that a proxy reports", "", "https://a.example.com/longhorn",
			map[string]string{"X-API-request-url": "https://a.example.com/longhorn/v1/volumes?field=name"}},
		{"by the setting", "https://b.example.com/storage/", "https://b.example.com/storage", map[string]string{"X-Forwarded-Host": "ui"}},
		{"a word that is no protocol", "", "http://longhorn-backend:9500", map[string]string{"X-Forwarded-Proto": "javascript"}},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://longhorn-backend:9500/v1/volumes", nil)
		for key, value := range c.header {
			r.Header.Set(key, value)
		}
		require.Equal(t, c.want, BaseOf(r, c.manager), c.name)
	}
}

func TestEverySchemaLeadsToItsCollection(t *testing.T) {
	for _, s := range Schemas("http://a") {
		require.NotEmpty(t, s.CollectionMethods, s.ID)
		require.Contains(t, s.CollectionMethods, http.MethodGet, s.ID)
		found, ok := FindSchema("http://a", s.PluralName)
		require.True(t, ok)
		require.Equal(t, s, found)
	}
	volume, _ := FindSchema("http://a", "Volume")
	require.Equal(t, "http://a/v1/volumes", volume.Links["collection"])
	require.Equal(t, []string{"GET", "DELETE"}, volume.ResourceMethods)
	require.Contains(t, volume.ResourceActions, "updateReplicaCount")
	require.Equal(t, "indexes", Plural("index"))
	_, ok := FindSchema("http://a", "nothing")
	require.False(t, ok)
}
