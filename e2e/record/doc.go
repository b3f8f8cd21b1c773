// Package record has the two recording proxies of every end-to-end run: one in front of the API server, one in front of
// the instance managers. They forward everything unchanged, streams included, and record for the tests and the
// benchmarks who wrote what, in which order, how often, and with which answer.
//
// Both number each effect in one Sequence, so that a harness can act right before or right after the n-th
// effect of a run: before means that the effect never reaches the server, after means that it is done and that the
// caller never receives the answer. Both simulate a crash at that moment.
//
//	controller ──TLS──► API ──TLS──► kube-apiserver
//	im-monitor ────────► DataPlane ──► simulator (same address, port + offset)
//
// The proxies know Kubernetes' paths and gRPC's method names, but not their meaning in Drover.
package record
