// Package cluster reads what Drover wrote into the API server: custom resources, leases, pods, events. Everything is read in parallel,
// without discovery, and into one struct, World, from which the commands derive what they print. It never calls the data plane.
package cluster
