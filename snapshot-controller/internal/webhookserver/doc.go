// Package webhookserver answers the API server about Snapshots as package webhook decides. Every process serves, whether it
// leads or not; nothing that it needs is written.
package webhookserver
