package imclient

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The kinds of failure that callers distinguish, with errors.Is.
var (
	// ErrUnreachable: no answer. Nothing is known, not even whether the server will still carry out what was asked.
	ErrUnreachable = errors.New("instance manager unreachable")
	// ErrNotFound: the server knows no such instance (or none with this UUID).
	ErrNotFound = errors.New("instance not found")
	// ErrAlreadyExists: the name is taken; nothing was done.
	ErrAlreadyExists = errors.New("instance already exists")
	// ErrRefused: the server understood and declined; nothing was done.
	ErrRefused = errors.New("instance manager refused")
	// ErrUnsupported: the server does not offer this, or speaks other API versions.
	ErrUnsupported = errors.New("instance manager does not support this")
	// ErrTooLarge: the answer is larger than the limit; a part of a list is never used.
	ErrTooLarge = errors.New("answer of the instance manager is too large")
	// ErrMalformed: the answer contradicts itself.
	ErrMalformed = errors.New("answer of the instance manager is malformed")
	// ErrFailed: the server tried and failed.
	ErrFailed = errors.New("instance manager failed")
)

// CallError is a failed call.
type CallError struct {
	// Method is the short name of the call, Address where it went.
	Method, Address string
	// Kind is one of the errors above.
	Kind error
	// Err is the underlying error.
	Err error
}

// Error names the call, the address and the reason in words; a server may make it long: it is cut at 1 KiB.
func (e *CallError) Error() string {
	return fmt.Sprintf("%s at %s: %v: %s", e.Method, e.Address, e.Kind, inWords(e.Err.Error()))
}

// wrapped is how gRPC prints a status. Servers pass the ones on that they got themselves, in the midst of their own texts.
var wrapped = regexp.MustCompile(`rpc error: code = (\S+) desc = `)

// inWords is a server's text as people read it: without what gRPC puts around it, cut at 1 KiB. Of a status without a text the code stays.
func inWords(text string) string {
	if !strings.Contains(text, "rpc error: ") {
		return cut(text)
	}
	answer := strings.TrimSpace(wrapped.ReplaceAllString(text, ""))
	if last := wrapped.FindAllStringSubmatch(text, -1); len(last) > 0 && (answer == "" || strings.HasSuffix(text, last[len(last)-1][0])) {
		answer = strings.TrimSpace(answer + " " + last[len(last)-1][1])
	}
	return cut(strings.Join(slices.Compact(strings.Split(answer, "\n")), "\n")) // a status and the context's own error report the same
}

// Unwrap makes the kind and the underlying error visible to errors.Is.
func (e *CallError) Unwrap() []error { return []error{e.Kind, e.Err} }

// kinds maps what servers answer; whatever is not in it counts as ErrFailed.
var kinds = map[codes.Code]error{
	codes.Unavailable:        ErrUnreachable,
	codes.DeadlineExceeded:   ErrUnreachable,
	codes.Canceled:           ErrUnreachable,
	codes.NotFound:           ErrNotFound,
	codes.FailedPrecondition: ErrRefused,
	codes.InvalidArgument:    ErrRefused,
	codes.PermissionDenied:   ErrRefused,
	codes.Unauthenticated:    ErrRefused,
	codes.Aborted:            ErrRefused,
	codes.AlreadyExists:      ErrAlreadyExists,
	codes.Unimplemented:      ErrUnsupported,
	codes.ResourceExhausted:  ErrTooLarge,
	codes.DataLoss:           ErrMalformed,
}

// IsOtherUUID reports whether err is how a server refuses a deletion since the instance of that name has another UUID.
func IsOtherUUID(err error) bool {
	return errors.Is(err, ErrRefused) && status.Code(err) == codes.FailedPrecondition
}

// callError types the error of a call; nil stays nil. The caller's own cancellation stays visible.
func callError(ctx context.Context, method, address string, err error) error {
	if err == nil {
		return nil
	}
	kind := kinds[status.Code(err)]
	if kind == nil {
		kind = ErrFailed
	}
	if ctx.Err() != nil {
		err = errors.Join(err, ctx.Err())
	}
	return &CallError{Method: method, Address: address, Kind: kind, Err: err}
}
