package gateway

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/lookup"
)

// changing wraps a handler that writes: it refuses while this process must not write, and logs the client, the action and the result.
func (s *server) changing(action string, h handler) handler {
	return func(r request) (any, error) {
		r.input = &bytes.Buffer{}
		result, err := any(nil), s.mayWrite()
		if err == nil {
			result, err = h(r)
		}
		outcome := "done"
		if err != nil {
			outcome = "failed"
		}
		s.metrics.writes.WithLabelValues(action, outcome).Inc()
		keys := []any{"action", action, "object", r.URL.Path, "input", r.logged(), "client", r.RemoteAddr,
			"user", r.Context().Value(userKey{}),
			"forwardedFor", r.Header.Get("X-Forwarded-For"), "userAgent", r.UserAgent(), "result", outcome}
		if err != nil {
			keys = append(keys, "error", err.Error())
		}
		s.log.Info("Changed by a client", keys...)
		return result, err
	}
}

func (s *server) mayWrite() error {
	if err := s.refusal(); err != nil {
		return wire.WithStatus(http.StatusServiceUnavailable, err)
	}
	return nil
}

// retried does something again if another writer was faster: clients do not know conflicts.
func retried(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !apierrors.IsConflict(err) || ctx.Err() != nil {
			return err
		}
	}
}

// await returns nil once holds returns true, and calls it now and after each change in the cache. It gives up after the write timeout, or
// when the process is asked to end.
func (s *server) await(ctx context.Context, holds func(context.Context) bool) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.WriteTimeout)
	defer cancel()
	defer context.AfterFunc(s.ending, cancel)()
	return s.changes.await(ctx, func() bool { return holds(ctx) })
}

// shown waits until the gateway's own cache has an object as it was written, so that the client's next read sees it. A cache that lags does
// not make the write fail.
func (s *server) shown(ctx context.Context, written client.Object) {
	into := written.DeepCopyObject().(client.Object)
	_ = s.await(ctx, func(ctx context.Context) bool {
		err := s.reader.cache.Get(ctx, client.ObjectKeyFromObject(written), into)
		if err != nil {
			return false
		}
		order, err := resourceversion.CompareResourceVersion(into.GetResourceVersion(), written.GetResourceVersion())
		return err != nil || order >= 0
	})
	s.recordChangeOf(into)
}

// remove deletes exactly the object that was read, and no other object of its name. Then it waits until the gateway's own cache shows the
// deletion, so that a page that lists again does not show the object as before. A cache that lags does not make the deletion fail.
func (s *server) remove(ctx context.Context, found client.Object) error {
	uid, into := found.GetUID(), found.DeepCopyObject().(client.Object)
	if err := s.client.Delete(ctx, into, client.Preconditions{UID: &uid}); err != nil {
		return err
	}
	_ = s.await(ctx, func(ctx context.Context) bool {
		err := s.reader.cache.Get(ctx, client.ObjectKeyFromObject(found), into)
		return apierrors.IsNotFound(err) || err == nil && (into.GetUID() != uid || into.GetDeletionTimestamp() != nil)
	})
	s.recordChangeOf(found)
	return nil
}

// recordChangeOf notes that an object changed. The cache may have it a moment before its event is recorded: encoded answers from before the
// write must not be sent meanwhile.
func (s *server) recordChangeOf(o client.Object) {
	for _, k := range kinds() {
		if reflect.TypeOf(k.object) != reflect.TypeOf(o) {
			continue
		}
		var volumes []string
		if k.volumes != nil {
			volumes = k.volumes(o)
		}
		s.changes.record(k.topic, volumes...)
	}
}

// awaitObject returns nil once the cache has an object that a controller creates.
func awaitObject[T nilable](ctx context.Context, s *server, name string, into T) error {
	var failed error
	err := s.await(ctx, func(ctx context.Context) bool {
		var none, found T
		found, failed = lookup.Shared(ctx, s.reader.cache, s.reader.namespace, name, into)
		return failed != nil || found != none
	})
	if err == nil && failed == nil {
		return nil
	}
	return errors.Join(failed, fmt.Errorf("the %s of %s does not exist yet: its controller creates it; try again", kindOf(into), name))
}

// generatedName returns 16 random hexadecimal digits.
func generatedName() string {
	var digits [8]byte
	_, _ = rand.Read(digits[:]) // it never fails
	return hex.EncodeToString(digits[:])
}

// plainly returns the API server's error without the parts that only programmers read. It keeps the sentences of the definition that
// refused.
func plainly(err error) error {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return err
	}
	details := status.Status().Details
	if !apierrors.IsInvalid(err) || details == nil || len(details.Causes) == 0 {
		return err
	}
	var sentences []string
	for _, cause := range details.Causes {
		sentence := cause.Message
		if i := strings.Index(sentence, ": "); strings.HasPrefix(sentence, "Invalid value") && i >= 0 {
			sentence = sentence[i+2:]
		}
		sentences = append(sentences, strings.TrimSpace(cause.Field+": "+sentence))
	}
	return errors.New(strings.Join(sentences, "; "))
}
