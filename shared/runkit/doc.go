// Package runkit is what every Drover binary shares before its own work begins: flags, logging, identity, a cache
// restricted to one namespace, leader election with release on exit, health, readiness, metrics and clean shutdown.
//
// It keeps the two promises of running beside an existing Longhorn installation. Under --observe a binary writes
// nothing, not even a lease, and logs what it would write. Without --observe, a binary never leads while a longhorn-manager pod
// runs in its namespace, unless --force-take-over is given.
package runkit
