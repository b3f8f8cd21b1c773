package runkit

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
)

// readAhead is a transport that requests the next page of a list when one was read, so that the API server writes the next page while this
// process decodes the former: both take about the same time, and together most of a start.
type readAhead struct{ http.RoundTripper }

// WrappedRoundTripper is the transport underneath, which client-go reads.
func (t readAhead) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }

// listKey is the key of a context's pagedList.
type listKey struct{}

// pagedList is a list whose pages are read one after the other. It has at most one page that was requested and not read yet.
type pagedList struct {
	url  string // of the page that was requested
	page chan answer
}

type answer struct {
	response *http.Response
	err      error
}

// withReadAhead lets lists of this context be read ahead, until the context ends.
func withReadAhead(ctx context.Context) context.Context {
	return context.WithValue(ctx, listKey{}, &pagedList{})
}

// RoundTrip returns the answer of a page that was requested before, and otherwise requests it now.
func (t readAhead) RoundTrip(request *http.Request) (*http.Response, error) {
	list, ok := request.Context().Value(listKey{}).(*pagedList)
	if !ok {
		return t.RoundTripper.RoundTrip(request)
	}
	response := list.take(request)
	if response == nil {
		var err error
		if response, err = t.RoundTripper.RoundTrip(request); err != nil {
			return nil, err
		}
	}
	response.Body = &pageBody{ReadCloser: response.Body, read: func(end []byte) {
		if token := continueOf(end); token != "" {
			list.request(t.RoundTripper, request, token)
		}
	}}
	return response, nil
}

// take returns the answer to this very request if it was sent ahead and succeeded, else nil.
func (l *pagedList) take(request *http.Request) *http.Response {
	page, url := l.page, l.url
	if l.page, l.url = nil, ""; page == nil || url != request.URL.String() {
		return nil
	}
	if got := <-page; got.err == nil {
		return got.response
	}
	return nil
}

// request sends the request of the page that follows that of another request.
func (l *pagedList) request(transport http.RoundTripper, former *http.Request, token string) {
	next := former.Clone(former.Context())
	query := next.URL.Query()
	query.Set("continue", token)
	next.URL.RawQuery = query.Encode()
	page := make(chan answer, 1)
	l.url, l.page = next.URL.String(), page
	go func() {
		response, err := transport.RoundTrip(next) //nolint:bodyclose // whoever takes it closes it, or the end of the context does
		page <- answer{response, err}
	}()
}

// endBytes is how much of the end of a page is kept: a list's metadata, above all the token of the next page, is shorter.
const endBytes = 8 << 10

// pageBody calls read with the end of the body when all of it was read.
type pageBody struct {
	io.ReadCloser
	end  []byte
	read func(end []byte)
}

// Read implements io.Reader.
func (b *pageBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.end = append(b.end, into[max(0, n-endBytes):n]...)
	b.end = b.end[max(0, len(b.end)-endBytes):]
	if errors.Is(err, io.EOF) && b.read != nil {
		b.read(b.end)
		b.read = nil
	}
	return n, err
}

// listEnd is the end of a list of custom resources in JSON: its fields are in the order of the alphabet.
var listEnd = regexp.MustCompile(`\],"kind":"\w+","metadata":\{"continue":"([\w=-]+)"[^{}]*\}\}\s*$`)

// continueOf is the token of the page after the one with this end, or "".
func continueOf(end []byte) string {
	if found := listEnd.FindSubmatch(end); found != nil {
		return string(found[1])
	}
	return ""
}
