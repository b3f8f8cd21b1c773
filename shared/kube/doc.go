// Package kube is what reconcilers build on beside controller-runtime: indexes of the cache (Index), fields that a cache does not keep
// (Keep), predicates on changed facts (OnChange), the way from an event to the requests that it causes (Mapper), and memory of one's own
// writes (Written). It decides nothing.
package kube
