package dataplane

// A v1 replica process serves one engine: an engine opens it, and every other engine is refused until it is closed. An engine closes its
// replicas when it is asked to end and when a replica is removed from it. It closes none if it dies, if its start fails, or if it does not
// reach the replica: then the process stays open until it is started again.

// isOpen reports whether an engine has opened the process of a v1 replica and has not closed it.
func (i *Instance) isOpen() bool {
	return i != nil && i.opener != nil
}

// openProcess opens the process of a v1 replica that answers; a process that another engine has open refuses the engine.
func (m *member) openProcess() {
	switch {
	case m.mode == ModeERR || m.replica == nil || m.replica.server.engine != V1:
	case m.replica.isOpen():
		m.leaveOut("replica must be closed, cannot add in state: open")
	default:
		m.replica.opener = m
	}
}

// closeProcess closes the process of a v1 replica if this engine has opened it and reaches it.
func (m *member) closeProcess() {
	if m.replica != nil && m.replica.opener == m && m.reachable() {
		m.replica.opener = nil
	}
}

// closeProcesses closes what a v1 engine has open when it is asked to end. Replicas in mode ERR are not closed.
func (r *engineRun) closeProcesses() {
	for _, m := range r.members {
		if m.mode != ModeERR {
			m.closeProcess()
		}
	}
}
