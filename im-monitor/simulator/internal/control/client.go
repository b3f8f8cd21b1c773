package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Client speaks to a control endpoint.
type Client struct {
	// URL is the endpoint's, such as http://127.0.0.1:9510; the scheme may be left out.
	URL  string
	HTTP *http.Client
}

// Do sends one request with a JSON body (nil for none) and decodes the answer into out (nil to drop it).
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encoding the request: %w", err)
		}
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base()+path, body)
	if err != nil {
		return fmt.Errorf("making the request: %w", err)
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("asking the simulator: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode/100 != 2 {
		var failure Failure
		if err := json.NewDecoder(answer.Body).Decode(&failure); err != nil || failure.Error == "" {
			return fmt.Errorf("the simulator answers %s", answer.Status)
		}
		return fmt.Errorf("the simulator refuses: %s", failure.Error)
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(answer.Body).Decode(out); err != nil {
		return fmt.Errorf("reading the simulator's answer: %w", err)
	}
	return nil
}

// base is the endpoint's URL with its scheme and without a slash at the end.
func (c *Client) base() string {
	base := strings.TrimSuffix(c.URL, "/")
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	return base
}
