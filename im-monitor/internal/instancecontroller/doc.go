// Package instancecontroller executes the verdicts of package instance. It has two controllers over one key, (kind, name of an object):
//
//   - the reporter decides on the caches and the newest complete lists, and writes the status. It sends no call;
//   - the executor sends the calls. Under the lock of (instance manager, name), shared by all executors of im-monitor, it reads the object,
//     and for an engine the other engines of its volume, uncached, decides again, writes status.starting before a creation, and calls
//     within two seconds of the read. A list begun after the call shows the result, never the answer.
//
// A creation may block for minutes: there are many workers, a semaphore allows a few calls per instance manager, and a key that finds no
// slot is enqueued when one is. A call ends with the leadership.
//
// All memory here may be lost: it bounds how often calls are repeated, and which list proves an absence after a call of this process.
package instancecontroller
