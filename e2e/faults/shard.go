package main

import "fmt"

// shard is one of several parts of the cases; the zero value is all of them.
type shard struct{ part, parts int }

// String implements flag.Value.
func (s *shard) String() string { return fmt.Sprintf("%d/%d", s.part, s.parts) }

// Set implements flag.Value.
func (s *shard) Set(text string) error {
	if _, err := fmt.Sscanf(text, "%d/%d", &s.part, &s.parts); err != nil {
		return fmt.Errorf("%q is not k/n: %w", text, err)
	}
	if s.part < 1 || s.part > s.parts {
		return fmt.Errorf("there is no part %d of %d", s.part, s.parts)
	}
	return nil
}

// deal returns the shard's part of a list. Groups of n entries go to the parts round-robin, so that each part has entries from the whole
// list.
func deal[T any](s shard, list []T, together int) []T {
	if s.parts == 0 {
		return list
	}
	var out []T
	for i, one := range list {
		if i/together%s.parts == s.part-1 {
			out = append(out, one)
		}
	}
	return out
}
