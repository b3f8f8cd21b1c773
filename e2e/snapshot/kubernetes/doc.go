// Package kubernetes runs the scenarios in which Kubernetes itself takes part in snapshots, on a real API server: S10, its
// admission, and S12, its VolumeSnapshots, with the real common snapshot controller of kubernetes-csi and the real
// kube-controller-manager. Drover's controllers run under their own Roles. The definitions of VolumeSnapshots are installed
// while they run.
package kubernetes
