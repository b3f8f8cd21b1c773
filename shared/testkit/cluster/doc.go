// Package cluster runs a real Kubernetes control plane on loopback: etcd, kube-apiserver with RBAC and, on request,
// kube-controller-manager. Tests, the demo and the benchmarks stand on it.
//
// Start finds the servers' binaries (see Locate), picks free ports, makes its own certificate authority and keys, and
// returns once the API server reports that it is ready. Any number of clusters run beside each other, each in its own
// temporary directory.
//
// A cluster that is to have definitions from the start (Options.CRDs) begins with a copy of etcd's data that has them already, made
// once and kept in the cache: 3.8 s of processor time instead of 5.6.
//
// Nothing stays behind. Stop ends the servers and removes the directory. When the process that called Start dies
// without Stop, even by SIGKILL, the kernel kills the servers (Linux) and a waiting watchdog script, which notices that its pipe
// was closed, kills what is left and removes the directory. If the watchdog dies as well, the next Start cleans up:
// every directory carries a locked file, and one whose lock can be taken has no owner any more.
//
// The package knows nothing about Drover's own kinds; package testkit adds them.
package cluster
