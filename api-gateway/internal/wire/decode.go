package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// MaxBody is the most bytes that the body of a request may have. The largest real one, a Node with its disks, has a few kilobytes.
const MaxBody = 1 << 20

// Decode reads the JSON body of a request. Keys match in upper and lower case, and unknown ones are ignored, since clients send whole
// resources back.
func Decode(body io.Reader, into any) error {
	content, err := io.ReadAll(body)
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return WithStatus(http.StatusRequestEntityTooLarge,
				fmt.Errorf("the body has more than %d bytes: send only the fields that change", MaxBody))
		}
		return WithStatus(http.StatusBadRequest, fmt.Errorf("the body cannot be read: %w", err))
	}
	if len(content) == 0 {
		return errors.New("the request has no body: send a JSON object with the input of this call")
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("the body is not the JSON of this call's input: %w", err)
	}
	return nil
}
