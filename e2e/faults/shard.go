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

// of deals the trials out like cards, both sides of a step to one part, so that each part has some of everything.
func (s shard) of(trials []trial) []trial {
	if s.parts == 0 {
		return trials
	}
	var out []trial
	for i, t := range trials {
		if i/2%s.parts == s.part-1 {
			out = append(out, t)
		}
	}
	return out
}
