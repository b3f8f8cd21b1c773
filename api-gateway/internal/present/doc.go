// Package present turns custom resources into the resources of Longhorn's REST API. It is pure: the shell reads, this package computes the
// answers. Custom resources leave empty fields out; clients of the API need every field, so each one is written here.
package present
