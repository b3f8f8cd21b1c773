// Package v1beta2 holds the custom resources of group longhorn.io: their fields, the labels, names, finalizers,
// condition types and reasons that Drover's controllers agree on. It uses no client and makes no decision.
//
// The field names are those that existing Longhorn clusters hold. Every kind that existed before Drover keeps fields
// that are not listed here.
//
// +kubebuilder:object:generate=true
// +groupName=longhorn.io
package v1beta2
