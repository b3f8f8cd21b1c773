package change

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Quantity is a size as clients write it: 10Gi, 1073741824, or a number.
type Quantity string

// UnmarshalJSON implements json.Unmarshaler.
func (q *Quantity) UnmarshalJSON(text []byte) error {
	value, err := plain(text)
	*q = Quantity(value)
	return err
}

// Bytes returns the size in bytes; 0 for an empty text.
func (q Quantity) Bytes() (int64, error) {
	if q == "" {
		return 0, nil
	}
	parsed, err := resource.ParseQuantity(string(q))
	if err != nil {
		return 0, fmt.Errorf("%q is no size: write bytes, or a number with a unit, such as 10Gi", string(q))
	}
	if parsed.CmpInt64(maxSize) > 0 { // the value of such a quantity is 0, or what is left of it in 64 bits
		return 0, fmt.Errorf("%q is more than any disk has", string(q))
	}
	return parsed.Value(), nil
}

// maxSize is the most bytes that a size may have: the next multiple of sizeUnit is still a number of 64 bits.
const maxSize = math.MaxInt64 / sizeUnit * sizeUnit

// Count is a number that some clients write as text.
type Count int

// UnmarshalJSON implements json.Unmarshaler.
func (c *Count) UnmarshalJSON(text []byte) error {
	value, err := plain(text)
	if err != nil || value == "" {
		return err
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return fmt.Errorf("%q is no whole number", value)
	}
	*c = Count(n)
	return nil
}

// plain returns a text or a number in JSON as text; null is empty.
func plain(text []byte) (string, error) {
	switch {
	case string(text) == "null":
		return "", nil
	case strings.HasPrefix(string(text), `"`):
		var value string
		err := json.Unmarshal(text, &value)
		return strings.TrimSpace(value), err
	}
	var value json.Number
	if err := json.Unmarshal(text, &value); err != nil {
		return "", fmt.Errorf("%s is neither a number nor a text", text)
	}
	return value.String(), nil
}
