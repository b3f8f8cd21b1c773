package runkit

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

type seenPages struct {
	http.RoundTripper
	pages chan<- string // the token of each page that is requested
}

func (s seenPages) RoundTrip(request *http.Request) (*http.Response, error) {
	if query := request.URL.Query(); query.Has("limit") && strings.HasSuffix(request.URL.Path, "/settings") {
		s.pages <- query.Get("continue")
	}
	return s.RoundTripper.RoundTrip(request)
}

// The API server has the request of the second page before anything of the first one is kept, and each page is requested once.
func TestTheNextPageIsRequestedWhileOneIsDecoded(t *testing.T) {
	namespace, admin := testkit.Namespace(t), testkit.Admin(t)
	for n := range 5 {
		require.NoError(t, admin.Create(t.Context(),
			&v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("setting-%d", n)}, Value: "1"}))
	}
	pages, kept := make(chan string, 10), 0
	requested := func() error {
		select {
		case <-pages:
			return nil
		case <-time.After(time.Minute):
			return errors.New("the next page is not requested")
		}
	}
	thin := func(obj any) (any, error) {
		switch kept++; kept {
		case 1:
			return obj, errors.Join(requested(), requested())
		case 3:
			return obj, requested()
		}
		return obj, nil
	}
	settings := map[client.Object]cache.ByObject{&v1beta2.Setting{}: {Transform: thin}}
	config := rest.CopyConfig(testkit.Cluster().AdminConfig())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readAhead{seenPages{next, pages}} })
	require.NoError(t, listFirst())
	c, err := cache.New(config, cache.Options{
		Scheme: testkit.Scheme(t), DefaultNamespaces: map[string]cache.Config{namespace: {}}, ByObject: settings,
		NewInformer: inPages(2, settings, cache.TransformStripManagedFields()),
	})
	require.NoError(t, err)
	go func() { _ = c.Start(t.Context()) }()
	require.True(t, c.WaitForCacheSync(t.Context()))
	var list v1beta2.SettingList
	require.NoError(t, c.List(t.Context(), &list))
	require.Len(t, list.Items, 5)
	require.Empty(t, pages, "each page is requested once")
}

func TestOnlyTheEndOfAListHasTheTokenOfItsNextPage(t *testing.T) {
	for text, want := range map[string]string{
		`{"items":[],"kind":"NodeList","metadata":{"continue":"eyJ2_-","remainingItemCount":3,"resourceVersion":"7"}}` + "\n": "eyJ2_-",
		`{"items":[],"kind":"NodeList","metadata":{"resourceVersion":"7"}}`:                                                   "",
		`{"items":[],"kind":"NodeList","metadata":{"continue":"","resourceVersion":"7"}}`:                                     "",
		`{"items":[{"a":"],\"kind\":\"X\",\"metadata\":{\"continue\":\"b\"}}"}],"kind":"NodeList","metadata":{}}`:             "",
		`{"items":[],"kind":"NodeList","metadata":{"continue":"a"}},"more":1}`:                                                "",
	} {
		require.Equal(t, want, continueOf([]byte(text)), text)
	}
}
