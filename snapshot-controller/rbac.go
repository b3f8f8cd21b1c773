package main

// The lease is made by deploy/lease.yaml, so that this binary can neither make leases nor touch another's:
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=drover-snapshot-controller,verbs=get;update;watch,namespace=longhorn-system
