// Package kube is what the reconcilers of all binaries build on beside controller-runtime: indexes of the cache, predicates on changed
// facts, and the way from an event to the requests that it causes. It decides nothing.
package kube
