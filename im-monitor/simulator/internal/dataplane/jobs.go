package dataplane

// jobs are what an engine works at, or has worked at, beside rebuilds.
type jobs struct {
	purge   *job
	hashes  map[string]*hashing
	clone   *cloning
	backups map[string]*backingUp
	restore *restoring
}

// interrupt ends all of it.
func (j *jobs) interrupt(why string) {
	for _, one := range j.all() {
		one.end(why)
	}
}

func (j *jobs) all() []*job {
	var out []*job
	if j.purge != nil {
		out = append(out, j.purge)
	}
	for _, h := range j.hashes {
		out = append(out, h.job)
	}
	if j.clone != nil {
		out = append(out, j.clone.job)
	}
	for _, b := range j.backups {
		out = append(out, b.job)
	}
	if j.restore != nil {
		out = append(out, j.restore.job)
	}
	return out
}
