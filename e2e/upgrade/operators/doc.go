// Package operators tests what operators do to an upgrade that is in progress.
package operators
