// Package controller is the reconciler around package orphan: it reads a World, lets the core decide, and does the
// one write of the verdict. Watches and indexes bound the work of an event to the orphans that the event is about.
//
// A verdict that deletes by policy, or ends an orphan without execution, is decided again on uncached reads before it
// is applied. Every write is bound to the version that was evaluated; a conflict requeues the orphan.
package controller
