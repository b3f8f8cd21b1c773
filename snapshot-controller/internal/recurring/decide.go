package recurring

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// policyAge is the spec.retentionPolicy by which retainAge decides; else retain does.
const policyAge = "age-based"

// Decide returns what the job does now. It is total, and it decides nothing more once what it decided is done and no time
// has passed.
func Decide(w World) Verdict {
	if w.Job.DeletionTimestamp != nil {
		return Verdict{Reason: "Deleting", Message: "The job is deleted; what it made stays."}
	}
	times, reason, problem := w.times()
	if problem != "" {
		return w.report(w.noRun(), reason, problem)
	}
	return w.run(times)
}

// times are when the job runs, or why it does not.
func (w World) times() (times schedule, reason, problem string) {
	if problem := unsupported(w.Job.Spec); problem != "" {
		return schedule{}, v1beta2.ReasonUnsupported, problem
	}
	times, err := parse(w.Job.Spec.Cron)
	if err == nil && times.after(w.since(w.own()), w.Now).IsZero() {
		err = errors.New("such a time never comes")
	}
	if err != nil {
		return schedule{}, v1beta2.ReasonBadCron,
			fmt.Sprintf("It never runs, because spec.cron %q cannot be read: %v.", w.Job.Spec.Cron, err)
	}
	return times, "", ""
}

// AtOnce is how many volumes the job works on at a time.
func AtOnce(job *v1beta2.RecurringJob) int { return max(job.Spec.Concurrency, 1) }

// IsRunning reports whether a run of the job is under way.
func IsRunning(job *v1beta2.RecurringJob) bool {
	_, running := parseTime(job.Status.CurrentRun)
	return running && unsupported(job.Spec) == ""
}

// IsFinished reports whether the run that is under way has nothing to do now with the volume of this world, which has one, and whether
// that is for good: what waits for people may continue while the run lasts.
func IsFinished(w World) (now, forGood bool) {
	run, _ := parseTime(w.Job.Status.CurrentRun)
	if p := w.progress(run); !p.over() {
		return false, false
	}
	return true, Removes(w.Job) || w.served(run)
}

// tasks are those that are done here.
var tasks = []string{
	v1beta2.RecurringTaskSnapshot, v1beta2.RecurringTaskSnapshotForceCreate, v1beta2.RecurringTaskSnapshotDelete,
	v1beta2.RecurringTaskSnapshotCleanup,
	v1beta2.RecurringTaskBackup, v1beta2.RecurringTaskBackupForceCreate,
}

// instead is what a person does in the place of tasks that are Longhorn's alone. A trim is a call to the file system where it is
// mounted, which no server of the data plane takes.
var instead = map[string]string{
	v1beta2.RecurringTaskFilesystemTrim: " (mount the volume with the option discard, or run fstrim where it is mounted)",
	v1beta2.RecurringTaskSystemBackup:   " (save the objects of the namespace by other means)",
}

func unsupported(spec v1beta2.RecurringJobSpec) string {
	_, fine := fullInterval(spec)
	switch {
	case !slices.Contains(tasks, spec.Task):
		return fmt.Sprintf("Task %q is not done here%s; these are: %s.", spec.Task, instead[spec.Task], strings.Join(tasks, ", "))
	case spec.RetentionPolicy == policyAge && retainAge(spec) <= 0 && spec.Task != v1beta2.RecurringTaskSnapshotCleanup:
		return fmt.Sprintf("spec.retainAge is %q; it must be a duration of more than zero, such as 72h.", spec.RetainAge)
	case !fine:
		return fmt.Sprintf("Parameter %s is %q; it must be a whole number of runs, such as 5.", parameterFullInterval,
			spec.Parameters[parameterFullInterval])
	case spec.Task == v1beta2.RecurringTaskSnapshotDelete && spec.RetentionPolicy != policyAge && spec.Retain < 1:
		return fmt.Sprintf("Task %s needs retain of 1 or more: without it every snapshot would go.", spec.Task)
	}
	return ""
}

// run leads the job from one run to the next.
func (w World) run(times schedule) Verdict {
	status := w.own()
	current, running := parseTime(status.CurrentRun)
	if !running {
		status.CurrentRun = ""
		due := times.due(w.since(status), w.Now)
		if due.IsZero() {
			return w.idle(status, times)
		}
		status.CurrentRun = format(due)
		if len(w.volumes()) > 0 {
			return w.underWay(status, times, due)
		}
		return w.ended(status, times)
	}
	p := w.progress(current)
	if p.over() {
		return w.ended(status, times)
	}
	v := w.underWay(status, times, current)
	v.Create, v.BackUp, v.Delete, v.Enqueue = p.snapshots, p.backups, p.doomed, p.requeueAt
	return v
}

func (w World) idle(status v1beta2.RecurringJobStatus, times schedule) Verdict {
	from := w.Now
	if last, ok := parseTime(status.LastRun); ok && last.After(from) {
		from = last
	}
	next := times.after(w.since(status), from)
	last := "It has not run yet"
	if status.LastRun != "" {
		last = "The last run was that of " + status.LastRun
	}
	v := w.report(status, v1beta2.ReasonScheduled, fmt.Sprintf("%s; the next is due at %s.", last, format(next)))
	v.Enqueue = next
	return v
}

func (w World) underWay(status v1beta2.RecurringJobStatus, times schedule, run time.Time) Verdict {
	return w.report(status, v1beta2.ReasonScheduled,
		fmt.Sprintf("The run of %s is under way; the next is due at %s.", format(run), format(times.after(run, run))))
}

func (w World) ended(status v1beta2.RecurringJobStatus, times schedule) Verdict {
	status.LastRun, status.CurrentRun = w.notAhead(status.CurrentRun), ""
	status.ExecutionCount++
	status.Conditions = w.retained(status.Conditions)
	return w.idle(status, times)
}

// since is the time after which a run can be due: the last run, or when the job was first seen. What was due before that was
// another controller's, or no controller's.
func (w World) since(status v1beta2.RecurringJobStatus) time.Time {
	if last, ok := parseTime(status.LastRun); ok {
		return last
	}
	seen, _ := parseTime(status.ScheduledSince)
	return seen
}

// own returns those parts of the status that this controller writes, as they are to be.
func (w World) own() v1beta2.RecurringJobStatus {
	s := w.Job.Status
	if _, seen := parseTime(s.ScheduledSince); !seen {
		s.ScheduledSince = format(w.Now)
	}
	s.ScheduledSince, s.LastRun = w.notAhead(s.ScheduledSince), w.notAhead(s.LastRun)
	return v1beta2.RecurringJobStatus{
		CurrentRun: s.CurrentRun, LastRun: s.LastRun, ExecutionCount: s.ExecutionCount, ScheduledSince: s.ScheduledSince,
		ObservedGeneration: w.Job.Generation, Conditions: conditions.Owned(s.Conditions, v1beta2.RecurringJobReady, v1beta2.RecurringJobRetained),
	}
}

// clocksDiffer is by how much the clocks of two leaders may differ: a run that the other one noted a little ahead of us is not repeated.
const clocksDiffer = 10 * time.Minute

// notAhead is the time, or now if it is further ahead: a leader wrote it whose clock was wrong, and the job would not run until then.
func (w World) notAhead(text string) string {
	if t, ok := parseTime(text); ok && t.After(w.Now.Add(clocksDiffer)) {
		return format(w.Now)
	}
	return text
}

func (w World) noRun() v1beta2.RecurringJobStatus {
	status := w.own()
	status.CurrentRun = ""
	return status
}

func (w World) report(status v1beta2.RecurringJobStatus, reason, message string) Verdict {
	c := v1beta2.Condition{Type: v1beta2.RecurringJobReady, Status: v1beta2.ConditionFalse, Reason: reason, Message: message}
	if reason == v1beta2.ReasonScheduled {
		c.Status = v1beta2.ConditionTrue
	}
	status.Conditions = conditions.Set(status.Conditions, c, w.Now)
	is := w.Job.Status
	write := is.CurrentRun != status.CurrentRun || is.LastRun != status.LastRun || is.ExecutionCount != status.ExecutionCount ||
		is.ObservedGeneration != status.ObservedGeneration || is.ScheduledSince != status.ScheduledSince ||
		!conditions.Equal(conditions.Owned(is.Conditions, v1beta2.RecurringJobReady, v1beta2.RecurringJobRetained), status.Conditions)
	return Verdict{Write: write, Status: status, Reason: reason, Message: message}
}

func format(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func parseTime(text string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, text)
	return t.UTC(), err == nil
}
