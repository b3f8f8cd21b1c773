package enginecommand

import "context"

// Places bounds how many commands run at once for a target. nil is no bound.
type Places chan struct{}

// NewPlaces returns so many places.
func NewPlaces(number int) Places { return make(Places, number) }

// take waits for a place; the function gives it back. A command that hangs keeps its place.
func (p Places) take(ctx context.Context) (func(), error) {
	if p == nil {
		return func() {}, nil
	}
	select {
	case p <- struct{}{}:
		return func() { <-p }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
