package recurringcontroller

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

// finished remembers which volumes the runs that are under way have finished with, so that none is read again for each
// event of another, and which Snapshots this process created for them, which the cache may not show yet. A process that does not know
// it finds it out again. One goroutine uses it.
type finished struct {
	runs map[string]ofRun // by the job's name
}

// ofRun are the volumes of one run.
type ofRun struct {
	job     types.UID
	run     string
	volumes map[types.UID]bool
	created map[string]time.Time // Snapshots, by their names
	paused  map[types.UID]string // the reasons why the run passed volumes over
}

func newFinished() *finished { return &finished{runs: map[string]ofRun{}} }

// of is what is known of the job's run that is under way.
func (f *finished) of(job *v1beta2.RecurringJob) ofRun {
	known, ok := f.runs[job.Name]
	if !ok || known.job != job.UID || known.run != job.Status.CurrentRun {
		known = ofRun{job: job.UID, run: job.Status.CurrentRun, volumes: map[types.UID]bool{},
			created: map[string]time.Time{}, paused: map[types.UID]string{}}
		f.runs[job.Name] = known
	}
	return known
}

func (f *finished) forget(job string) { delete(f.runs, job) }

func (r ofRun) has(v *v1beta2.Volume) bool { return r.volumes[v.UID] }

func (r ofRun) add(v *v1beta2.Volume) { r.volumes[v.UID] = true }

// shown forgets that Snapshots were created which the cache shows.
func (r ofRun) shown(list []*v1beta2.Snapshot) {
	for _, s := range list {
		delete(r.created, s.Name)
	}
}
