// Package upgradecontroller makes the decisions of packages plan and nodeupgrade true: one reconciler for whole upgrades,
// one for the upgrades of nodes. Each reads a World, lets its core decide, does the effects in their order, and writes the
// status last.
//
// A decision that cannot be taken back is taken again on uncached reads. Every status is written to the version that
// was judged; a conflict means to decide anew.
package upgradecontroller
