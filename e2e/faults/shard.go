package main

import "fmt"

// shard is one of several parts of the trials; the zero value is everything.
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

// deal is the shard's part of a list that is dealt out like cards, so many at a time, so that each part has some of everything.
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
