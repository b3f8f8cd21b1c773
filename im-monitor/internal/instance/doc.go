// Package instance decides about the runtime instance of one Engine, EngineFrontend or Replica: what its status reports, and what to ask an
// instance manager for. It knows the object, the newest whole lists, the node, and right before a call the volume's other objects; it
// refuses to know why an instance is wanted.
//
//	             starting written, create           listed
//	stopped ───────────────────────────▶ starting ─────────▶ running ⇄ suspended
//	   ▲                                                        │ failed, or proven missing
//	   │ listed stopped, absence proven,                        ▼
//	   └────── or node out and partitioned ◀── delete, look ◀───── error
//
//	suspended: a frontend holds its I/O because that is asked for; it moves under it, and continues at its target.
//	unknown: no whole list of its instance manager. Unknown is not empty, and decides nothing.
//
// Four rules carry the rest. The status comes from lists, never from a call's answer. What ended by itself is an error and is not started
// again: that takes a stop first. What is listed although the status never began it is of an earlier life and ends before anything is
// created. On a node that is out, stopped is concluded only once every replica of the volume in service is stopped, which cuts the old
// engine off (design, section 2).
package instance
