package nodeupgrade

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/rebuildpace"
)

// defaults are the timeouts of the states that spec.timeouts does not name.
var defaults = map[string]time.Duration{
	v1beta2.UpgradeStateInitializing:             10 * time.Minute,
	v1beta2.UpgradeStateSwitchingOver:            10 * time.Minute,
	v1beta2.UpgradeStateDetachingReplicas:        10 * time.Minute,
	v1beta2.UpgradeStateUpgradingInstanceManager: 15 * time.Minute,
	v1beta2.UpgradeStateSwitchingBack:            10 * time.Minute,
	v1beta2.UpgradeStateRebuildingReplica:        30 * time.Minute,
	v1beta2.UpgradeStateRollingBack:              10 * time.Minute,
}

// Timeout is how long a state may take without progress. An upgrade that has not begun has the timeout of initializing.
func Timeout(manager *v1beta2.DataEngineUpgradeManager, state string) time.Duration {
	if state == "" || state == v1beta2.UpgradeStateUndefined {
		state = v1beta2.UpgradeStateInitializing
	}
	if manager != nil {
		if given, err := time.ParseDuration(string(manager.Spec.Timeouts[state])); err == nil && given > 0 {
			return given
		}
	}
	return defaults[state]
}

// deadline is when the present state times out without progress: without one more volume that has done its step, and
// while replicas are rebuilt, without a rebuild that progresses. Zero means never.
func (p *pass) deadline() time.Time {
	if Ended(p.observed) || p.since().IsZero() {
		return time.Time{}
	}
	return p.progressedAt().Add(p.timeout())
}

// timeout is how long the present state may be without progress: longer than its timeout while a volume is rebuilt one per cent of which
// takes longer.
func (p *pass) timeout() time.Duration {
	given := Timeout(p.Manager, p.observed)
	longest := given
	if p.observed != v1beta2.UpgradeStateRebuildingReplica {
		return given
	}
	for _, name := range p.volumes() {
		if v, exists := p.Cluster.Volumes[name]; exists && v.Attached() && !v.Healthy() {
			longest = max(longest, rebuildpace.Patience(given, v1beta2.SizeOf(v.Object)))
		}
	}
	return longest
}

// progressedAt is when the present state progressed last; at first it is when it began.
func (p *pass) progressedAt() time.Time {
	if p.further() {
		return p.Now
	}
	if at := parse(p.status.ProgressedAt); at.After(p.since()) {
		return at
	}
	return p.since()
}

// further reports whether fewer volumes are left to do the present step than ever before in this state: a volume that is detached after
// its step hides no step of another, and one that is attached again is progress once. The end of the last one is no progress.
func (p *pass) further() bool {
	return p.status.State == p.observed && p.progress() != "" && p.done+p.gone > p.status.Furthest
}

// since is when the present state began; zero while its time does not run.
func (p *pass) since() time.Time {
	if p.status.StateSince == "" {
		return time.Time{}
	}
	return parse(p.Upgrade.Status.StateSince)
}

// late reports whether the present state takes too long.
func (p *pass) late() bool {
	deadline := p.deadline()
	return !deadline.IsZero() && !p.Now.Before(deadline)
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// parse parses a time; an invalid one gives the zero time.
func parse(value string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		return time.Time{}
	}
	return at
}
