package machine

import (
	"fmt"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/retry"
	"drover.dev/drover/shared/text"
)

// migrationPause delays a migration after its second engine failed.
var migrationPause = retry.Pause{First: 10 * time.Second, Longest: 5 * time.Minute}

const (
	// migrationTimeout is how long the second engine of a migration may take to run, with its replica processes.
	migrationTimeout = 5 * time.Minute
)

// migrationFailure returns the failure that is recorded for a migration to this node, or nil. It is stored with the volume, so that a new
// leader neither forgets it nor counts it twice.
func (f Facts) migrationFailure(target string) *v1beta2.MigrationFailure {
	if stored := f.Volume.Status.MigrationFailure; stored != nil && stored.NodeID == target {
		return stored
	}
	return nil
}

// hasFailed reports whether the failure of the present second engine is recorded.
func (f Facts) hasFailed(target string) bool {
	failure := f.migrationFailure(target)
	return failure != nil && failure.EngineUID == string(f.second.UID)
}

// waitAfterFailure reports whether the pause after the last failure lasts.
func (m migration) waitAfterFailure(target string) bool {
	failure := m.migrationFailure(target)
	if failure == nil {
		return false
	}
	due, err := time.Parse(time.RFC3339, failure.NextAttemptAt)
	if err != nil || !m.Now.Before(due) {
		return false
	}
	m.requeueAt(due)
	m.wait(v1beta2.ReasonMigrating, fmt.Sprintf("%s The migration is tried again at %s; the engine on %s serves meanwhile.",
		failure.Message, stamp(due), m.engine.Spec.NodeID))
	return true
}

// recordFailure records that the second engine failed, before that engine is ended: its state is the only evidence.
func (m migration) recordFailure(target string) bool {
	why := m.secondFailure()
	if why == "" {
		return false
	}
	failure := &v1beta2.MigrationFailure{Count: 1, EngineUID: string(m.second.UID), Message: why, NodeID: target}
	if before := m.migrationFailure(target); before != nil {
		failure.Count += before.Count
	}
	failure.NextAttemptAt = stamp(m.Now.Add(migrationPause.After(failure.Count)))
	m.setStatus("migrationFailure", m.Volume.Status.MigrationFailure, failure)
	m.emit(Event{Reason: EventMigrationFailed, Warning: true, Note: why + " The volume stays where it is, and the migration is tried again."})
	m.wait(v1beta2.ReasonMigrating, why)
	return true
}

// secondFailure returns why the second side of the migration cannot run; empty if it may.
func (m migration) secondFailure() string {
	e, frontend := ofEngine(m.second), ofFrontend(m.secondFrontend)
	switch {
	case e.failed():
		return text.Sentence(fmt.Sprintf("Engine %s on %s, which the migration started, has failed.%s", m.second.Name, e.node,
			NotStarted(m.second.Status.Conditions)))
	case frontend.failed():
		return text.Sentence(fmt.Sprintf("Frontend %s on %s, which the migration started, has failed.%s", m.secondFrontend.Name, frontend.node,
			NotStarted(m.secondFrontend.Status.Conditions)))
	}
	for _, r := range m.processesOf(m.second) {
		if i := ofReplica(r); i.failed() {
			return text.Sentence(fmt.Sprintf("Process %s on %s, which the migration started over the data of a replica, has failed.%s", r.Name,
				i.node, NotStarted(r.Status.Conditions)))
		}
	}
	return m.secondOverdue(e)
}

// secondOverdue returns what has not started in time; until then it requests an evaluation for that moment. The creation of the engine
// begins the time, so that it goes on when the leader changes.
func (m migration) secondOverdue(e instance) string {
	created := m.second.CreationTimestamp.Time
	if created.IsZero() || m.running(e) {
		return ""
	}
	due := created.Add(migrationTimeout)
	if m.Now.Before(due) {
		m.requeueAt(due)
		return ""
	}
	missing := fmt.Sprintf("Engine %s on %s is %s.%s", m.second.Name, e.node, m.stateOf(e), NotStarted(m.second.Status.Conditions))
	for _, r := range m.processesOf(m.second) {
		if i := ofReplica(r); !m.running(i) {
			missing = fmt.Sprintf("Process %s on %s is %s.%s", r.Name, i.node, m.stateOf(i), NotStarted(r.Status.Conditions))
		}
	}
	return text.Sentence(fmt.Sprintf("The migration's second engine did not run within %s: %s", migrationTimeout, missing))
}
