package world

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Control is the URL of the simulator's control endpoint.
func (w *World) Control() string { return w.control }

// AskSimulator sends one request to the simulator's control endpoint, for requests without a method of their own here.
func (w *World) AskSimulator(ctx context.Context, method, path string, body, into any) error {
	return w.ctl(ctx, method, path, body, into)
}

// whyNot reads why a request is not served.
func whyNot(answer []byte) string {
	var refusal struct{ Error string }
	if err := json.Unmarshal(answer, &refusal); err != nil || refusal.Error == "" {
		return string(bytes.TrimSpace(answer))
	}
	_, why, found := strings.Cut(refusal.Error, "does not serve that: ")
	if !found {
		return refusal.Error
	}
	return why
}

// ctl sends one request to the simulator's control endpoint.
func (w *World) ctl(ctx context.Context, method, path string, body, into any) error {
	var reader io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encoding a request to the simulator: %w", err)
		}
		reader = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, w.control+path, reader)
	if err != nil {
		return fmt.Errorf("creating a request to the simulator: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("sending a request to the simulator: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("reading the simulator's answer: %w", err)
	}
	if response.StatusCode == http.StatusNotImplemented {
		return fmt.Errorf("%s: %s", NotServed, whyNot(answer))
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the simulator answered %s %s with %s: %s", method, path, response.Status, bytes.TrimSpace(answer))
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("reading the simulator's answer to %s %s: %w", method, path, err)
	}
	return nil
}
