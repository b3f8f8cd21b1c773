package main

// deploy/lease.yaml creates the lease, so that this binary can neither create leases nor change another's:
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=drover-attach-controller,verbs=get;update;watch,namespace=longhorn-system
