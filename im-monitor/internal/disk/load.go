package disk

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// wanted is the UUID that the disk is to be loaded with: the recorded one, or that of a person's mark to adopt.
func (d *one) wanted() string {
	if d.old.DiskUUID != "" {
		return d.old.DiskUUID
	}
	uuid, adopt := strings.CutPrefix(d.spec.Initialize, v1beta2.InitializeAdopt)
	if adopt {
		return uuid
	}
	return ""
}

// isNew reports whether a person allowed the device to be formatted, and no UUID is recorded.
func (d *one) isNew() bool { return d.old.DiskUUID == "" && d.spec.Initialize == v1beta2.InitializeNew }

// here is the latest attempt, if this run of the server was asked.
func (d *one) here() *v1beta2.DiskLoad {
	if d.old.Load != nil && d.old.Load.Server == d.Server.Run {
		return d.old.Load
	}
	return nil
}

func (d *one) requestedAt() (time.Time, bool) {
	if d.old.Load == nil {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339, d.old.Load.RequestedAt)
	if at.After(d.Now) { // the clock was set back
		at = d.Now
	}
	return at, err == nil
}

// underWay reports whether the call of the latest attempt may still reach the server, and decides again when it no longer can.
func (d *one) underWay() bool {
	at, ok := d.requestedAt()
	left := at.Add(d.CallTimeout).Sub(d.Now)
	if !ok || left <= 0 {
		return false
	}
	d.not(v1beta2.ReasonNoDiskInfo, "DiskCreate of disk %s was called at %s and the instance manager %s does not know the disk yet. It "+
		"is called again %s after that if this stays so.", d.key, d.old.Load.RequestedAt, d.Server.Name, d.CallTimeout)
	d.after = min(left, LatePause)
	if d.Now.Sub(at) < soon {
		d.after = min(left, SoonPause)
	}
	return true
}

// unknown is a disk that the server's map lacks.
func (d *one) unknown() {
	switch other := d.samePath(); {
	case other != "":
		d.not(v1beta2.ReasonNotInitialized, "Disks %s and %s of node %s have the same path %s: take one of them out of the spec. Disk "+
			"%s is not loaded.",
			other, d.key, d.Node, d.spec.Path, d.key)
	case d.wanted() != "":
		if d.here() == nil || !d.underWay() {
			d.create(d.wanted(), "The disk is loaded with the UUID %s.", d.wanted())
		}
	case d.isNew():
		d.unknownNew()
	default:
		d.uninitialized()
	}
}

// samePath is another disk with the same path that comes first: one whose UUID is recorded, or else the first one in order.
func (d *one) samePath() string {
	for _, key := range slices.Sorted(maps.Keys(d.Specs)) {
		recorded := d.Status[key].DiskUUID != ""
		if s := d.Specs[key]; key == d.key || s.DiskType != v1beta2.DiskTypeBlock || s.Path != d.spec.Path || d.old.DiskUUID != "" && !recorded {
			continue
		}
		if recorded == (d.old.DiskUUID != "") && key > d.key {
			continue
		}
		return key
	}
	return ""
}

// unknownNew formats or adopts what is at the path, once.
func (d *one) unknownNew() {
	load := d.old.Load
	if name := d.claimant(); name != "" {
		d.not(v1beta2.ReasonNotInitialized, "Replica %s is on disk %s at %s of node %s, so the device holds data: it is not initialized "+
			"as new. Use "+
			"initialize: adopt:<uuid> with the UUID of its lvstore, which is spec.diskID of that Replica.", name, d.key, d.spec.Path,
			d.Node)
		return
	}
	switch {
	case load == nil || load.UUID != "":
		if load == nil || !d.underWay() {
			d.create("", "The device is formatted if it is empty; an lvstore on it is adopted.")
		}
	case d.here() != nil && load.State == v1beta2.DiskLoadRequested:
		if !d.underWay() {
			d.create("", "The device is formatted if it is empty; an lvstore on it is adopted.") // the first call never reached the server
		}
	default:
		d.uncertain()
	}
}

// uncertain is a disk that the server forgot while it was initialized as new.
func (d *one) uncertain() {
	d.not(v1beta2.ReasonInitializationUncertain,
		"The instance manager of node %s was restarted after DiskCreate was called at %s to initialize disk %s at %s as new. "+
			"It is unknown whether the device was formatted, or whether it is the same device. Check the device, remove the mark, wait "+
			"until this condition reports %s, then set it again: %s",
		d.Node, d.old.Load.RequestedAt, d.key, d.spec.Path, v1beta2.ReasonNotInitialized, d.patch(`null`)+" ; "+d.patch(`"new"`))
	d.endLoad()
}

// claimant is a Replica that reports that the disk holds its data, or "".
func (d *one) claimant() string {
	return d.firstReplica(func(r Replica) bool { return r.DiskPath == d.spec.Path })
}

// uninitialized is a disk of which no UUID is recorded, and for which no initialization is requested.
func (d *one) uninitialized() {
	if load := d.old.Load; load != nil && (load.State == v1beta2.DiskLoadError || !(d.here() != nil && d.underWay())) {
		d.out.Load = nil
	}
	d.not(v1beta2.ReasonNotInitialized, "Nothing is recorded of disk %s at %s, and the device is not touched. If it may be formatted "+
		"(check that it holds no data): %s . "+
		"If it holds an lvstore with a known UUID: %s", d.key, d.spec.Path, d.patch(`"new"`), d.patch(`"adopt:<uuid>"`))
}

// patch is the command that sets the mark.
func (d *one) patch(value string) string {
	return fmt.Sprintf(`kubectl -n longhorn-system patch nodes.longhorn.io %s --type merge -p '{"spec":{"disks":{"%s":{"initialize":%s}}}}'`, d.Node, d.key, value)
}

// create records the attempt; the call follows.
func (d *one) create(uuid, format string, args ...any) {
	d.request(uuid)
	d.call = &Call{Key: d.key, Op: OpCreate, Path: d.spec.Path, UUID: uuid, Driver: CreateDriver(d.spec, d.old)}
	d.not(v1beta2.ReasonNoDiskInfo, "Disk %s is being loaded into the instance manager %s. "+format,
		append([]any{d.key, d.Server.Name}, args...)...)
}

func (d *one) request(uuid string) {
	load := &v1beta2.DiskLoad{Server: d.Server.Run, State: v1beta2.DiskLoadRequested, UUID: uuid, RequestedAt: stamp(d.Now), Attempts: 1}
	if d.old.Load != nil && d.old.Load.State != v1beta2.DiskLoadReady && d.here() != nil {
		load.Attempts += d.old.Load.Attempts
	}
	d.out.Load, d.after = load, SoonPause
}

// creating is a disk that waits in the server for another one.
func (d *one) creating() {
	d.state(v1beta2.DiskLoadCreating)
	d.not(v1beta2.ReasonNoDiskInfo, "The instance manager %s is loading disk %s.", d.Server.Name, d.key)
	d.after = SoonPause
}

// endLoad records that an attempt of an earlier run, or one that no one answers for, loads nothing any more: switch-overs wait for no
// other.
func (d *one) endLoad() {
	if load := d.old.Load; load != nil && (load.State == v1beta2.DiskLoadRequested || load.State == v1beta2.DiskLoadCreating) {
		ended := *load
		ended.State = v1beta2.DiskLoadError
		d.out.Load = &ended
	}
}

// state records the server's word in the attempt. An attempt of another client is not recorded.
func (d *one) state(now string) {
	if here := d.here(); here != nil {
		load := *here
		load.State = now
		d.out.Load = &load
	}
}

// noteReady records since when this run of the server has the disk loaded.
func (d *one) noteReady() {
	if d.state(v1beta2.DiskLoadReady); d.here() == nil {
		d.out.Load = &v1beta2.DiskLoad{Server: d.Server.Run, State: v1beta2.DiskLoadReady, UUID: d.out.DiskUUID, RequestedAt: stamp(d.Now)}
	}
	d.out.Load.Attempts = 0
	if d.out.Load.ReadyAt == "" {
		d.out.Load.ReadyAt = stamp(d.Now)
	}
}

// mayRecord reports whether the UUID of a loaded disk may be recorded: it is the one that a person named, or that of the attempt that
// this person's mark led to in this run.
func (d *one) mayRecord() bool {
	answer := d.answer()
	switch here := d.here(); {
	case d.spec.Initialize == v1beta2.InitializeAdopt+answer.UUID:
		return true
	case d.isNew() && here != nil && here.UUID == "":
		return true
	case d.wanted() != "":
		d.not(v1beta2.ReasonDiskFilesystemChanged, "Disk %s at %s holds the lvstore with UUID %q, and %s was asked for.", d.key,
			d.spec.Path, answer.UUID, d.wanted())
	default:
		d.not(v1beta2.ReasonNotInitialized, "The instance manager %s has loaded disk %s at %s with UUID %s, which is not recorded and "+
			"was not loaded by im-monitor. "+
			"To take it: %s", d.Server.Name, d.key, d.spec.Path, answer.UUID, d.patch(`"`+v1beta2.InitializeAdopt+answer.UUID+`"`))
	}
	d.after = LatePause
	return false
}

// failed is a disk that the server could not load. Calling DiskCreate again does nothing: the entry must be deleted first.
func (d *one) failed() {
	uuid := d.wanted()
	d.state(v1beta2.DiskLoadError)
	why := fmt.Sprintf("The instance manager %s could not load disk %s at %s: its log has the cause. The device may be missing, be "+
		"another one, or be in use.",
		d.Server.Name, d.key, d.spec.Path)
	switch {
	case uuid != "":
		d.retry(uuid, why)
	case d.isNew():
		d.not(v1beta2.ReasonNoDiskInfo, "%s A device is initialized as new only once. Check it, remove the mark, wait until this "+
			"condition reports %s, then set it again: %s ; %s", why, v1beta2.ReasonNotInitialized, d.patch("null"), d.patch(`"new"`))
	default: // no initialization is requested: the server forgets the attempt, so that another mark begins again
		d.call = &Call{Key: d.key, Op: OpDelete, Path: d.spec.Path, Driver: deleteDriver(d.spec, d.old)}
		d.not(v1beta2.ReasonNotInitialized, "%s", why)
		d.after = SoonPause
	}
}

// retry deletes the entry and loads the disk again, with a growing back-off, while nothing uses the disk.
func (d *one) retry(uuid, why string) {
	var due time.Time
	if at, ok := d.requestedAt(); ok && d.here() != nil {
		due = at.Add(d.backoff(d.here().Attempts))
	}
	switch {
	// Replicas wait for the disk: what they report proves nothing
	case d.old.DiskUUID != "" && (d.Server.InUse == nil || d.Server.InUse[uuid]):
		d.not(v1beta2.ReasonNoDiskInfo, "%s It is not loaded again while the instance manager lists running replicas on it.", why)
		d.after = LatePause
	case d.Now.Before(due):
		d.not(v1beta2.ReasonNoDiskInfo, "%s The next attempt is at %s.", why, stamp(due))
		d.after = due.Sub(d.Now)
	default:
		d.request(uuid)
		d.call = &Call{Key: d.key, Op: OpReload, Path: d.spec.Path, UUID: uuid, Driver: CreateDriver(d.spec, d.old),
			DeleteDriver: deleteDriver(d.spec, d.old)}
		d.not(v1beta2.ReasonNoDiskInfo, "%s It is loaded again now.", why)
	}
}

// backoff is the least time between two attempts.
func (w World) backoff(attempts int) time.Duration {
	pause := w.RetryMin
	for n := 1; n < attempts && pause < w.RetryMax; n++ {
		pause *= 2
	}
	return min(pause, w.RetryMax)
}
