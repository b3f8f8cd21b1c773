package wire

import "net/http"

// Error is the answer to a request that failed.
type Error struct {
	Type    string            `json:"type"`
	Status  int               `json:"status"`
	Code    string            `json:"code"`
	Message string            `json:"message"`
	Detail  string            `json:"detail"`
	Links   map[string]string `json:"links"`
	Actions map[string]string `json:"actions"`
}

// NewError returns the answer to a request that failed with a status and a sentence.
func NewError(status int, message, address string) Error {
	return Error{Type: "error", Status: status, Code: http.StatusText(status), Message: message,
		Links: map[string]string{"self": address}, Actions: map[string]string{}}
}

// StatusError is an error with the status that the client gets.
type StatusError struct {
	Status int
	Err    error
}

// Error implements error.
func (e StatusError) Error() string { return e.Err.Error() }

// Unwrap returns the error without its status.
func (e StatusError) Unwrap() error { return e.Err }

// WithStatus returns an error that the client gets with a status.
func WithStatus(status int, err error) error { return StatusError{Status: status, Err: err} }
