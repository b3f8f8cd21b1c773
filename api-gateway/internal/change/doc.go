// Package change turns the input of a client into the object to create, or the fields to write. It is pure. The definitions of
// the custom resources check values; this package adds the defaults that Longhorn's webhook fills in, and refuses properties that Drover
// cannot honor.
package change
