// Package upgradecontroller has the reconcilers around packages plan, nodeupgrade and leftover: one for whole upgrades,
// one for the upgrades of nodes, one for nodes that an upgrade left behind. Each reads a World, lets its core decide,
// does the effects in their order, and writes the status last.
//
// A decision that cannot be undone is taken again on uncached reads. Every status write is bound to the version that
// was evaluated; a conflict requeues.
package upgradecontroller
