// Package leftover decides what becomes of a node that is closed for an upgrade while no upgrade has it: the object was taken away by
// force, its finalizer with it. A node is closed before anything of it is touched and opened after everything came home, so that the closed
// node itself says that something may be left: targets that are away from home, and the closing.
//
// It reads nothing and writes nothing; package upgradecontroller does.
package leftover
