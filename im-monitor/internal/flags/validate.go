package flags

import (
	"errors"
	"fmt"
	"path"
	"time"

	"drover.dev/drover/shared/managerimage"
)

// Validate names every value that cannot be served, and what to give instead. The rules of absence and the post-election delay
// keep claimed instances safe, so that a mistyped sign must not switch them off.
func (o *Options) Validate() error {
	m := o.Manager
	return errors.Join(
		positive("absence-gap", o.AbsenceGap),
		notNegative("v2-settle", o.V2Settle),
		notNegative("v2-quiet", o.V2Quiet),
		positive("disk-call-timeout", o.Disk.CallTimeout),
		positive("disk-retry-min", o.Disk.RetryMin),
		positive("disk-retry-max", o.Disk.RetryMax),
		positive("safety-list-period", o.SafetyPeriod),
		positive("list-timeout", o.ListTimeout),
		positive("engine-poll-interval", o.Engine.Period),
		positive("engine-poll-active-interval", o.Engine.Busy),
		positive("rebuild-stall-timeout", o.Engine.RebuildStallTimeout),
		notNegative("rebuild-hand-over", o.Engine.HandOver),
		notNegative("post-election-delay", o.Orphan.PostElectionDelay),
		notNegative("v2-rediscovery", o.Instance.Rediscovery), notNegative("v1-stop-patience", o.Instance.StuckEnding),
		absolute("engine-binary-prefix", o.Instance.EnginePrefix),
		absolute("host-prefix", o.Instance.HostPrefix),
		notNegative("engine-loss-pause", m.EngineLossPause),
		absolute("control-path", m.ControlPath),
		positive("unreachable-after", m.UnreachableAfter),
		within("v2-memory-mib", float64(o.Pods.SPDK.MemoryMiB), 1, 1<<20),
		within("instance-manager-cpu-percent", o.Pods.CPUPercent, 0, 100),
		mask("v2-cpu-mask", o.Pods.SPDK.CPUMask),
		o.profilesOfImages(),
		o.directoryForTLS(),
	)
}

func (o *Options) directoryForTLS() error {
	if o.Manager.RequireTLS && o.TLSDirectory == "" {
		return errors.New("--require-tls needs --tls-dir: the directory with ca.crt, tls.crt and tls.key")
	}
	return nil
}

func positive(flag string, value time.Duration) error {
	if value > 0 {
		return nil
	}
	return fmt.Errorf("--%s %s must be longer than 0", flag, value)
}

func notNegative(flag string, value time.Duration) error {
	if value >= 0 {
		return nil
	}
	return fmt.Errorf("--%s %s must not be negative; 0 turns the wait off", flag, value)
}

func within(flag string, value, low, high float64) error {
	if value >= low && value <= high {
		return nil
	}
	return fmt.Errorf("--%s %v must be between %v and %v", flag, value, low, high)
}

func absolute(flag, value string) error {
	if path.IsAbs(value) {
		return nil
	}
	return fmt.Errorf("--%s %q must be an absolute path", flag, value)
}

func mask(flag, value string) error {
	if _, err := managerimage.ParseCPUMask(value); err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}

func (o *Options) profilesOfImages() error {
	_, err := o.ManagerOptions()
	return err
}
