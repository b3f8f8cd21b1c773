// Package webhook decides what the API server is told about a request that makes, changes or deletes a Snapshot.
//
// It says no more than the controllers would: what is refused here, they would not carry out, and what is completed here,
// they would complete later. So nothing depends on it, and nothing is lost while nobody answers the API server.
package webhook
