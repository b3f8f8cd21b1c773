// Package record holds the two proxies through which every end-to-end run looks at Drover: one before the API server,
// one before the instance managers. They pass everything on unchanged, streams included, and keep what the proofs and
// the benchmarks need: who wrote what, in which order, how often, and with which answer.
//
// Both number what has an effect in one Sequence, so that a harness can act right before or right after the n-th
// effect of a run: before means that the effect never reaches the server, after means that it is done and that the
// caller never learns of it. Both are what a crash at that moment looks like.
//
//	controller ──TLS──► API ──TLS──► kube-apiserver
//	im-monitor ────────► DataPlane ──► simulator (same address, port + offset)
//
// The proxies know Kubernetes' paths and gRPC's method names, nothing of what Drover means by them.
package record
