// Package instance decides about the runtime instance of one Engine, EngineFrontend or Replica: what its status reports, and which call to
// send to an instance manager. Its input is the object, the newest complete lists, the node, and right before a call the volume's other
// objects; the reason why an instance is to run is not part of it.
//
//	             starting written, create           listed
//	stopped ───────────────────────────▶ starting ─────────▶ running ⇄ suspended
//	   ▲                                                        │ failed, or proven missing
//	   │ listed stopped, absence proven,                        ▼
//	   └────── or node out and fenced ◀── delete, poll ◀───── error
//
//	suspended: the I/O of a frontend is suspended on request; the frontend switches over meanwhile, and resumes at its target.
//	unknown: no complete list of its instance manager. Unknown is not empty, and decides nothing.
//
// Four rules. (1) The status comes from lists, never from a call's answer. (2) An instance that ended by itself is in error and is not
// started again before a stop. (3) An instance that is listed although the status never began it is of an earlier run and ends before
// anything is created. (4) On a node that is out, stopped is concluded only once every replica of the volume in service is stopped, which
// fences the old engine.
package instance
