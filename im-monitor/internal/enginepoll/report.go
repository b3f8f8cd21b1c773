package enginepoll

import (
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

// snapshotLog and backupLog are the loggers of what is done about Snapshots and Backups, with the names that people filter by.
func (c *Controller) snapshotLog() logr.Logger { return c.rt.Log.WithName("snapshots") }
func (c *Controller) backupLog() logr.Logger   { return c.rt.Log.WithName("backups") }

// report emits the events of a poll. full is true where a limit keeps a replica out, for another reason than before.
func (p *poll) report(v engine.Verdict, full bool) {
	p.reportStranded(v)
	if v.ExpansionFailed {
		p.emit("ExpansionFailed", "The volume has not grown: "+v.Status.LastExpansionError+".")
	}
	if full {
		p.emit("RebuildAtSnapshotLimit", "A replica is missing and cannot be rebuilt, since a rebuild takes a snapshot. "+v.Held)
	}
}

// reportNoRoom emits once why a purge is not sent that would make room for a replica.
func (p *poll) reportNoRoom(call engine.Call, why string) {
	if call.Op == engine.OpPurge && p.makesRoom != "" && p.memory.roomHeld(p.engine.Name, why) {
		p.emit("RebuildWaitsForPurge", "A replica is missing, and snapshots are purged before it is rebuilt, since a rebuild takes one. "+
			p.makesRoom+" The purge waits: "+why+".")
	}
}

// emit emits a warning about what a poll found.
func (p *poll) emit(reason, note string) {
	events.Emit(p.rt.Recorder, p.engine, events.Event{Type: corev1.EventTypeWarning, Reason: reason, Action: "PollEngine", Note: note})
}

// reportStranded emits an event for each replica that was found stranded by this poll.
func (p *poll) reportStranded(v engine.Verdict) {
	for _, name := range v.Stranded {
		if p.engine.Status.ReplicaModeMap[name] == v1beta2.ReplicaModeERR {
			continue // an earlier poll found it
		}
		p.emit("RebuildStranded", fmt.Sprintf("The rebuild of replica %s has ended, and the replica stays write-only, because the caller of "+
			"the rebuild is gone. The replica is removed and rebuilt again.", name))
		stranded.Inc()
	}
}
