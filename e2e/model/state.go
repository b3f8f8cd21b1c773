package model

// state is everything that matters, as a comparable value.
type state struct {
	// replica is the Replica as stored; cached is what both controllers' caches show.
	replica, cached replica
	// orphans are those of UUID 1 and 2 on the first instance manager; seen is what orphan-controller's cache shows.
	orphans, seen [2]orphan
	// runtime and uuid are the instance on the first manager; nextUUID is the one that a new process gets.
	runtime        runtimeState
	uuid, nextUUID uint8
	// abandoned is the UUID that attach-controller recorded as abandoned; 0 is none.
	abandoned uint8
	// window is true while that manager restarts: its list is unknown, or wrong.
	window bool
	// volume exists; otherCopy is healthy; auto deletion is on.
	volume, otherCopy, auto bool
	// engine is a forgotten engine on the second node that maps the replica; reachable reports whether that node's manager is reachable.
	engine, reachable bool
	// leader is the im-monitor that leads; fencingDelay holds while the other's calls may still be executed.
	leader       uint8
	fencingDelay bool
	monitors     [2]monitor
	left         budget
}

// budget bounds what the environment does.
type budget struct{ changes, restarts, faults, flips, elections, deletions uint8 }

type runtimeState uint8

const (
	absent runtimeState = iota
	dataLeft
	alive
)

// replica is a Replica object. manager is 0, 1 or 2; uuid is the instance that it adopted.
type replica struct {
	exists, deleting, wanted, running bool
	node, manager, uuid               uint8
}

// orphan is an Orphan object; the fields of conditions are 0 for absent and else an index into the lists of reasons.
type orphan struct {
	exists, deleting bool
	// incarnation distinguishes an object from its predecessor of the same name.
	incarnation                                bool
	orphaned, instanceState, withdrawn, failed uint8
	approval                                   uint8
	byPolicy                                   bool
	// asked is a ghost variable: a person or a policy requested the deletion.
	asked bool
}

// phase is the progress of an im-monitor with its one operation.
type phase uint8

const (
	idle phase = iota
	evaluated
	confirmed
	checked
	inFlight
)

// monitor is one im-monitor process.
type monitor struct {
	phase   phase
	uuid    uint8
	cleanup bool
}

// ended reports whether no step is left. A policy's deletion that a person switched off again waits for that person.
func (s state) ended() bool {
	for _, o := range s.orphans {
		waits := o.byPolicy && !s.auto && o.withdrawn == 0
		if o.exists && (o.deleting || o.withdrawn != 0) && !waits {
			return false
		}
	}
	return true
}

// normal resets the fields that no later step reads, so that states with equal futures are one state.
func (s state) normal() state {
	for i := range s.orphans {
		if !s.orphans[i].exists {
			s.orphans[i] = orphan{incarnation: s.orphans[i].incarnation}
		}
	}
	for i := range s.monitors {
		if s.monitors[i].phase == idle {
			s.monitors[i] = monitor{}
		}
	}
	if !s.replica.exists {
		s.replica = replica{}
	}
	if s.runtime == absent {
		s.uuid, s.abandoned = 0, 0
	}
	return s
}
