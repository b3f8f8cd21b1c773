// Package gateway serves Longhorn's REST API from custom resources. Any number of its processes answer at once: each reads from its own
// caches, writes single objects as a person would, and has no other state.
//
// A request passes limits (rate, body, time), the check of its origin, and a handler, which returns a resource or an error. Package present
// computes resources, package change computes writes; this package reads, writes and answers.
package gateway
