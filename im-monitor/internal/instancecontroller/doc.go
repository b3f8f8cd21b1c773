// Package instancecontroller makes the verdicts of package instance true. It has two controllers over one key, (kind, name of an object):
//
//   - the reporter decides on the caches and the newest whole lists, and writes the status. It never calls;
//   - the hands call. Under the lock of (instance manager, name), which they share with all other hands of im-monitor, they read the object, and
//     for an engine the other engines of its volume, uncached, decide again, write status.starting where something is to be created, and
//     call within two seconds of the read. What came of it is read from a list begun after the call, never from the answer.
//
// A creation may block for minutes: the hands are many, each instance manager has a few of them at a time, and who finds none free is
// enqueued when one is. A call ends with the leadership.
//
// All memory here may be lost: it bounds how often things are tried, and what absence means after a call of our own.
package instancecontroller
