// Package runkit is what every Drover binary shares before its own work begins: flags, logging, identity, a cache
// restricted to one namespace, leader election with release on exit, health, readiness, metrics and clean shutdown.
//
// It holds the two promises of running beside an existing Longhorn installation. Under --observe a binary writes
// nothing, no lease either, and says what it would write. Without it, a binary never leads while a longhorn-manager pod
// runs in its namespace, unless --force-take-over was given.
package runkit
