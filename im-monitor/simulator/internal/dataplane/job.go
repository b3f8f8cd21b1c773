package dataplane

import "time"

// Progress is how far a piece of work is.
type Progress struct {
	Running bool
	Percent int32
	State   string
	Error   string
}

// States of a piece of work.
const (
	JobRunning  = "in_progress"
	JobComplete = "complete"
	JobFailed   = "error"
)

// job is work that takes its time: ten steps, then its end.
type job struct {
	Progress
	// prepared is true until a job begins that was only prepared: its progress is all zero.
	prepared bool
	done     chan struct{} // closed at the end
	finish   func() string // the work itself; what went wrong, or ""
	ended    func()        // called at the end
}

// jobSteps is how many steps a job has; heldPause is how often a job that is held checks whether it may continue.
const (
	jobSteps  = 10
	heldPause = 20 * time.Millisecond
)

// work begins a job. With failure it ends with that error. The lock is held.
func (p *Plane) work(volume *volume, failure string, finish func() string) *job {
	j := prepare(failure, finish)
	p.launch(j, volume)
	return j
}

// prepare makes a job that has not begun.
func prepare(failure string, finish func() string) *job {
	j := &job{prepared: true, done: make(chan struct{}), finish: finish}
	if failure != "" {
		j.finish = func() string { return failure }
	}
	return j
}

// launch begins a job that was prepared, unless it was abandoned or has ended. The lock is held.
func (p *Plane) launch(j *job, volume *volume) {
	if !j.prepared {
		return
	}
	j.prepared, j.Running, j.State = false, true, JobRunning
	p.step(j, volume)
}

// step continues with a job after a tenth of the time that it takes.
func (p *Plane) step(j *job, volume *volume) {
	whole := p.copyTime(volume)
	if whole == 0 {
		j.end(j.finish())
		return
	}
	if whole < 0 {
		p.after(heldPause, func() {
			if j.Running {
				p.step(j, volume)
			}
		})
		return
	}
	p.after(whole/jobSteps, func() {
		if !j.Running {
			return
		}
		j.Percent += 100 / jobSteps
		if j.Percent >= 100 {
			j.end(j.finish())
			return
		}
		p.step(j, volume)
	})
}

// end finishes a job; "" is success.
func (j *job) end(failure string) {
	if !j.Running && !j.prepared {
		return
	}
	j.Running, j.prepared, j.State = false, false, JobComplete
	if failure != "" {
		j.State, j.Error = JobFailed, failure
	} else {
		j.Percent = 100
	}
	close(j.done)
	if j.ended != nil {
		j.ended()
	}
}

// whenEnded has something done at a job's end, now if that was before. The lock is held.
func (j *job) whenEnded(do func()) {
	if !j.Running && !j.prepared {
		do()
		return
	}
	j.ended = do
}

// Copy times that never end: Held stops a copy, HeldBefore stops a v1 rebuild before its copy begins, and every other copy, too.
const (
	Held       = time.Duration(-1)
	HeldBefore = time.Duration(-2)
)

// preparation is how long a v1 engine prepares a rebuild before it begins to copy: two steps of the time that the copy takes.
func (p *Plane) preparation(v *volume) time.Duration { return max(p.copyTime(v), 0) * 2 / jobSteps }

// copyTime is how long copying a volume takes: its own setting, or everybody's.
func (p *Plane) copyTime(v *volume) time.Duration {
	if v != nil {
		if d, ok := p.copyTimes[v.name]; ok {
			return d
		}
	}
	return p.behaviour.CopyTime
}

// SetCopyTime reports how long copying a volume takes (rebuild, clone, restore, backup, purge, expansion), or any volume without a
// setting of its own when the name is empty. It holds from the next step of work that continues; Held stops it.
func (p *Plane) SetCopyTime(volume string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if volume == "" {
		p.behaviour.CopyTime = d
		return
	}
	p.copyTimes[volume] = d
}
