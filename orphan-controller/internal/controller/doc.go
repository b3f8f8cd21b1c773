// Package controller makes the decisions of package orphan true: it reads a World, lets the core decide, and does the
// one write of the verdict. Watches and indexes keep the work of an event at the orphans that the event is about.
//
// A verdict that deletes by policy, or ends an orphan without execution, is taken only after deciding once more on
// reads that bypass the cache. Every write is bound to the version that was judged; a conflict means to decide anew.
package controller
