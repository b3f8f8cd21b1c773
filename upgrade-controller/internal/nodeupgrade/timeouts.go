package nodeupgrade

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// defaults are how long each state may take where spec.timeouts does not say.
var defaults = map[string]time.Duration{
	v1beta2.UpgradeStateInitializing:             10 * time.Minute,
	v1beta2.UpgradeStateSwitchingOver:            10 * time.Minute,
	v1beta2.UpgradeStateDetachingReplicas:        10 * time.Minute,
	v1beta2.UpgradeStateUpgradingInstanceManager: 15 * time.Minute,
	v1beta2.UpgradeStateSwitchingBack:            10 * time.Minute,
	v1beta2.UpgradeStateRebuildingReplica:        30 * time.Minute,
	v1beta2.UpgradeStateRollingBack:              10 * time.Minute,
}

// Timeout is how long a state may take. What has not begun has the time of initializing; while replicas are rebuilt it
// counts from the last progress.
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

// deadline is when the present state has taken too long; zero means never.
func (p *pass) deadline() time.Time {
	if Ended(p.observed) || p.since().IsZero() {
		return time.Time{}
	}
	from := p.since()
	if progressed := parse(p.status.ProgressedAt); p.observed == v1beta2.UpgradeStateRebuildingReplica && progressed.After(from) {
		from = progressed
	}
	return from.Add(Timeout(p.Manager, p.observed))
}

// since is when the present state began; zero while its time does not run.
func (p *pass) since() time.Time {
	if p.status.StateSince == "" {
		return time.Time{}
	}
	return parse(p.Upgrade.Status.StateSince)
}

// late tells that the present state takes too long.
func (p *pass) late() bool {
	deadline := p.deadline()
	return !deadline.IsZero() && !p.Now.Before(deadline)
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// parse reads a time; what is none is the zero time.
func parse(value string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		return time.Time{}
	}
	return at
}
