package dataplane

import (
	"errors"
	"fmt"
)

// Code classifies a refusal, in the words of gRPC's codes.
type Code string

// The codes that the data plane answers with.
const (
	NotFound           Code = "NotFound"
	AlreadyExists      Code = "AlreadyExists"
	InvalidArgument    Code = "InvalidArgument"
	FailedPrecondition Code = "FailedPrecondition"
	Unimplemented      Code = "Unimplemented"
	Unavailable        Code = "Unavailable"
	Unknown            Code = "Unknown"
	Internal           Code = "Internal"
)

// Error is a refusal. Nothing was changed, but by a phase of a switch-over, which keeps what it did before it failed.
type Error struct {
	Code    Code
	Message string
}

// Error reports the refusal's message.
func (e *Error) Error() string { return e.Message }

func refuse(code Code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// CodeOf is the code of a refusal, OK for nil and Unknown for any other error.
func CodeOf(err error) string {
	var refusal *Error
	switch {
	case err == nil:
		return "OK"
	case errors.As(err, &refusal):
		return string(refusal.Code)
	default:
		return "Unknown"
	}
}
