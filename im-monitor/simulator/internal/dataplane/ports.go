package dataplane

// ports are those that a node's instances may listen on: fresh ones up to the end of the range, then those that were given back, the
// longest free first, then any above the range, where a real server would refuse.
type ports struct {
	next, last int32
	free       map[int32][]int32 // starts of free runs, by their length
}

func newPorts() map[string]*ports {
	return map[string]*ports{V1: {next: 10000, last: 20000, free: map[int32][]int32{}},
		V2: {next: 20001, last: 30000, free: map[int32][]int32{}}}
}

// take allocates a run of ports.
func (p *ports) take(count int32) (start, end int32) {
	if free := p.free[count]; p.next+count-1 > p.last && len(free) > 0 {
		p.free[count] = free[1:]
		return free[0], free[0] + count - 1
	}
	start = p.next
	p.next += count
	return start, start + count - 1
}

// give takes a run of ports back.
func (p *ports) give(start, end int32) {
	if start > 0 {
		p.free[end-start+1] = append(p.free[end-start+1], start)
	}
}

// takePorts allocates a run of ports for a data engine.
func (n *node) takePorts(engine string, count int32) (start, end int32) {
	return n.ports[engine].take(count)
}
