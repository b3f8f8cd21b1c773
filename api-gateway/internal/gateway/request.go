package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"drover.dev/drover/api-gateway/internal/wire"
)

// request is one request with the values that its handler needs.
type request struct {
	*http.Request
	ctx  context.Context
	base string
	name string // of the resource in the path; empty if the path names none
	// input has the body once it was read, for the log.
	input *bytes.Buffer
}

// decode reads the body into the input of a call.
func (r request) decode(into any) error {
	if r.input == nil {
		return wire.Decode(r.Body, into)
	}
	return wire.Decode(io.TeeReader(r.Body, r.input), into)
}

// mostLogged limits the bytes of a body in the log: enough for the names of an object, and not for a node with all its disks.
const mostLogged = 1 << 10

// logged returns the body as it was read, cut after mostLogged bytes.
func (r request) logged() string {
	if r.input.Len() <= mostLogged {
		return r.input.String()
	}
	return strings.ToValidUTF8(string(r.input.Bytes()[:mostLogged]), "") + "…"
}

// address returns the address of the request itself.
func (r request) address() string { return r.base + r.URL.Path }

// handler answers one kind of request: with a resource, with a text that is encoded already, or with nil for no body.
type handler func(request) (any, error)

// answer writes the result of a handler.
func (s *server) answer(w http.ResponseWriter, r request, result any, failed error) {
	w.Header().Set("X-API-Schemas", r.base+"/"+wire.Version+"/schemas")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if failed != nil {
		s.fail(w, r, failed)
		return
	}
	if result == nil {
		w.WriteHeader(http.StatusOK)
		return
	}
	if known, isText := result.(text); isText {
		w.Header().Set("Content-Type", "application/json")
		_ = known.writeFor(r.base, w) // a client that went away needs no answer
		return
	}
	body, err := json.Marshal(result)
	if err != nil {
		s.fail(w, r, fmt.Errorf("encoding the answer: %w", err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // a client that went away needs no answer
}

// fail writes an error in the form of the API. Only a missing object of the path gets 404: clients understand that status so.
func (s *server) fail(w http.ResponseWriter, r request, failed error) {
	status := statusOf(failed)
	body, err := json.Marshal(wire.NewError(status, failed.Error(), r.address()))
	if err != nil {
		http.Error(w, failed.Error(), status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// statusOf returns the status for a client: 500, as for every refused input, unless the error carries a status. A conflict is 409: the same
// request may be sent again, as no field was written.
func statusOf(err error) int {
	var known wire.StatusError
	switch {
	case errors.As(err, &known):
		return known.Status
	case apierrors.IsConflict(err):
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}
