package main

// Each node has a lease of its own, which its pod makes: names of nodes are not known to a Role. The policy in deploy/policy.yaml lets the
// token of a pod write the lease and the Node of the pod's node only.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update;watch,namespace=longhorn-system
