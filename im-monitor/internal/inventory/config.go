package inventory

import (
	"context"
	"math/rand/v2"
	"time"

	"k8s.io/utils/clock"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/retry"
)

// Connect starts a connection to a target. It does not wait; the first call does.
type Connect func(target Target) (imclient.Client, error)

// Over connects through a dialer.
func Over(dialer *imclient.Dialer) Connect {
	return func(target Target) (imclient.Client, error) {
		conn, err := dialer.Connect(target.Address, target.DataEngine, target.TLS)
		if err != nil {
			return nil, err
		}
		return conn, nil
	}
}

// AskDisk asks the server at an address (without a port) about one v2 disk.
type AskDisk func(ctx context.Context, address string, query imclient.DiskQuery) (imclient.Disk, error)

// DeleteReplica destroys the data of one replica on a v2 disk of the server at an address.
type DeleteReplica func(ctx context.Context, address string, disk imclient.DiskRef, replica string) error

// ListReplicas lists the replicas on a v2 disk of the server at an address.
type ListReplicas func(ctx context.Context, address string, disk imclient.DiskRef) (map[string]imclient.DiskReplica, error)

// Config are the settings of an inventory. The zero value of a field means its default.
type Config struct {
	// Connect makes connections; it has no default.
	Connect Connect
	// AskDisk, ListReplicas and DeleteReplica call the disk service; they have no default.
	AskDisk       AskDisk
	ListReplicas  ListReplicas
	DeleteReplica DeleteReplica
	// Disks are the block disks that a node has by its spec; false is unknown. Nil is a cluster without block disks.
	Disks func(node string) ([]NodeDisk, bool)
	// AbsenceGap (5 s) lies between two lists that prove absence.
	AbsenceGap time.Duration
	// Settle (30 s) is how old the epoch of a v2 server must be, and for a replica how long its disk must have been ready in it, before a
	// list of it proves that something is absent.
	Settle time.Duration
	// Quiet (10 s) is how long before a list no creation or deletion of a replica may have been open at a v2 server.
	Quiet time.Duration
	// CallPatience (3 min) is how long a server may still execute a call whose caller timed out, or that the previous leader sent.
	CallPatience time.Duration
	// SafetyPeriod (10 min, jittered by a fifth) is the longest time without a list.
	SafetyPeriod time.Duration
	// SecondList (10 s) is when a list follows the first one of a connection: the watch may have arrived at the server after the first list
	// was read, and what changed in between is noticed by nothing else.
	SecondList time.Duration
	// NoticeInterval (10 ms) is the least time between the beginnings of two lists that notices cause, FollowUpInterval (1 s) that of
	// follow-ups.
	NoticeInterval, FollowUpInterval time.Duration
	// BackoffMin (250 ms) and BackoffMax (30 s) bound the pause before a reconnect, jittered downwards by up to a half.
	BackoffMin, BackoffMax time.Duration
	// Clock is the time.
	Clock clock.Clock
	// Random is a number in [0,1).
	Random func() float64
}

// withDefaults fills in what is not set.
func (c Config) withDefaults() Config {
	for _, field := range []struct {
		value    *time.Duration
		fallback time.Duration
	}{
		{&c.AbsenceGap, 5 * time.Second},
		{&c.Settle, 30 * time.Second},
		{&c.Quiet, 10 * time.Second},
		{&c.CallPatience, 3 * time.Minute},
		{&c.SafetyPeriod, 10 * time.Minute},
		{&c.SecondList, 10 * time.Second},
		{&c.NoticeInterval, 10 * time.Millisecond},
		{&c.FollowUpInterval, time.Second},
		{&c.BackoffMin, 250 * time.Millisecond},
		{&c.BackoffMax, 30 * time.Second},
	} {
		if *field.value <= 0 {
			*field.value = field.fallback
		}
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	return c
}

// safetyDelay returns the time from one list to the next if nothing happens.
func (c Config) safetyDelay() time.Duration {
	return retry.Jitter(c.SafetyPeriod, c.Random)
}

// backoff is the pause after a number of failures in a row.
func (c Config) backoff(failures int) time.Duration {
	pause := c.BackoffMin << min(failures, 16)
	return time.Duration(float64(min(pause, c.BackoffMax)) * (1 - 0.5*c.Random()))
}
