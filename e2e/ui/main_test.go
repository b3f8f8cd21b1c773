package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutTheInterfaceOrABrowserItSaysWhatItNeeds(t *testing.T) {
	files := t.TempDir()
	for _, missing := range []string{"", files, filepath.Join(files, "nowhere")} {
		err := run(context.Background(), missing, "chromium", "", false)
		require.ErrorContains(t, err, "make ui-test UI=")
		require.ErrorContains(t, err, "npm run build")
	}
	require.NoError(t, os.WriteFile(filepath.Join(files, "index.html"), []byte("here"), 0o600))
	require.ErrorContains(t, run(context.Background(), files, filepath.Join(files, "no-browser"), "", false), "apt-get install chromium")
}

// The gateway compares the address of a page with the address that the browser asked: the proxy has to pass that on.
func TestTheProxyServesFilesAndPassesTheAPIOnWithTheAddressOfThePage(t *testing.T) {
	files := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(files, "index.html"), []byte("the page"), 0o600))
	seen := make(chan *http.Request, 1)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r
		_, _ = io.WriteString(w, "the API") // the test reads it
	}))
	defer gateway.Close()
	address, stop, err := serve(files, gateway.URL)
	require.NoError(t, err)
	defer stop()
	for path, want := range map[string]string{"/": "the page", "/v1/volumes?x=y": "the API"} {
		response, err := http.Get(address + path)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, string(text))
	}
	request := <-seen
	require.Equal(t, "/v1/volumes?x=y", request.URL.String())
	require.Equal(t, address, "http://"+request.Header.Get("X-Forwarded-Host"))
}
