// Package night is what people do to an upgrade that is under way, at three in the morning.
package operators
