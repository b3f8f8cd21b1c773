// Package webhook decides what the API server is answered about a request that creates, changes or deletes a Snapshot.
//
// It decides no more than the controllers would: what is refused here, they would not execute, and what is completed here,
// they would complete later. So nothing depends on the webhook, and nothing is lost while it does not answer the API server.
package webhook
