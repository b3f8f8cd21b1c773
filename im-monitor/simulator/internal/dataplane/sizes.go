package dataplane

// luksHeader is what an encrypted volume's backends are larger by.
const luksHeader = 16 << 20

// fit compares sizes as a v1 engine does when it opens its replicas: one that is exactly the LUKS header too small for --current-size is
// expanded if it was started with --encrypted; the size is --size where all have that, else --current-size; every
// replica of another size is left out.
func (r *engineRun) fit() {
	a := r.engine.takes()
	asked, current := a.number("--size"), a.number("--current-size")
	members := r.with(ModeRW)
	whole := asked
	for _, m := range members {
		if m.data.size == 0 { // made by hand: no one reported its size
			m.data.size = max(current, asked)
		}
		if m.encrypted() && m.data.size+luksHeader == current {
			m.data.size = current
		}
		if m.data.size != asked {
			whole = 0
		}
	}
	switch {
	case whole != 0 || current == 0:
		r.size = asked
	default:
		r.size = current
	}
	if !a.has("--size") && len(members) > 0 { // images of CLI API version 5 and older
		r.size = members[0].data.size
	}
	for _, m := range members {
		if m.data.size != r.size {
			m.leaveOut("Backend size does not match")
		}
	}
}

// encrypted reports whether the replica was started for an encrypted volume.
func (m *member) encrypted() bool {
	return m.replica != nil && m.replica.takes().has("--encrypted")
}

// leaveOut is the end of a replica that the engine itself knows to be unfit, while it opens its replicas.
func (m *member) leaveOut(why string) { m.mode, m.unfit = ModeERR, why }

// agree leaves out what was started with another setting of the revision counter, or for another protocol.
func (m *member) agree() {
	if m.replica == nil || m.mode == ModeERR || len(m.replica.Args) == 0 || len(m.run.engine.Args) == 0 {
		return
	}
	engine, replica := m.run.engine.takes(), m.replica.takes()
	switch {
	case engine.one("--data-server-protocol") != replica.one("--data-server-protocol"):
		m.leaveOut("Data server protocols differ")
	case engine.has("--disableRevCounter") != replica.has("--disableRevCounter"):
		m.leaveOut("Revision counter settings differ")
	}
}

// Why no replica is usable: the engine ends with exit status 1 if one of them does not answer, else with 61.
const (
	noneUsable  = "no usable replica"
	noneAnswers = "no usable replica: none of them answers"
)

func (r *engineRun) whyNone() string {
	for _, m := range r.members {
		if m.unfit == "" && m.mode == ModeERR {
			return noneAnswers
		}
	}
	return noneUsable
}
