// Package inventory has the instances of every instance manager, the time of the list, and its epoch.
//
// It holds one connection and one watch stream per instance manager. The watch is opened first, then the whole list is read; a notice means
// a coalesced list; a lost stream means the inventory is unknown at once, a reconnect with back-off, and a fresh list; a slow, jittered
// safety list finds what no notice reported.
//
//	      Set                watch, version, list            notice, fresh, follow-up, safety
//	┌───► connecting ─────────────────────────► known ─────────────────────────────────► list ─┐
//	│         │ error                            ▲ │ lost, list failed                         │
//	│ back-off▼                                  └─┼───────────────────────────────────────────┘
//	└──── unknown ◄────────────────────────────────┘
//
// Unknown is not empty: Latest answers false unless the newest list of the present epoch was read whole. An instance is absent only by the
// design's rule (see Absent), never because one list lacks it. The package makes no decisions and writes no objects.
package inventory
