package engine

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// CallWorld is what Allowed reads right before a call, uncached.
type CallWorld struct {
	// Polled is the engine that was polled, Now what it is at present: the same run of it.
	Polled, Now *v1beta2.Engine
	Call        Call
	// Volume is the engine's, where the call reads it; nil where there is none.
	Volume *v1beta2.Volume
}

// ReadsVolume reports whether Allowed reads the Volume for a call: it does if the call replaces, loses or merges data, or fills a replica.
func (o Op) ReadsVolume() bool {
	return o == OpClone || o == OpRestore || o == OpRevert || o == OpPurge || o == OpAdd || o == OpVerify
}

// IsRestored reports whether the engine's next restore fills a replica that is added to it: until the volume may be used, it takes its data
// from backups. A v2 engine rebuilds such a replica all the same.
func IsRestored(e *v1beta2.Engine, v *v1beta2.Volume) bool {
	return v != nil && v.Status.RestoreRequired && e.Spec.DataEngine != v1beta2.DataEngineV2
}

// Allowed reports why a call must not be sent now; nil where it may. What is called must be what the specs ask for at present.
func Allowed(c CallWorld) error {
	address, mapped := c.Now.Spec.ReplicaAddressMap[c.Call.Name]
	switch c.Call.Op {
	case OpAdd:
		if !mapped {
			return fmt.Errorf("replica %s is not wanted any more", c.Call.Name)
		}
		if bare(address) != bare(c.Call.Address) {
			return fmt.Errorf("replica %s has another address now", c.Call.Name)
		}
	case OpRemove:
		if mapped && bare(address) == bare(c.Call.Address) {
			return fmt.Errorf("replica %s is wanted again", c.Call.Name)
		}
	case OpVerify:
		if !mapped || bare(address) != bare(c.Call.Address) || !IsRestored(c.Now, c.Volume) ||
			c.Now.Spec.RequestedBackupRestore != c.Polled.Spec.RequestedBackupRestore {
			return fmt.Errorf("replica %s is not filled by that restore any more", c.Call.Name)
		}
	case OpExpand:
		if c.Now.Spec.VolumeSize != c.Polled.Spec.VolumeSize {
			return fmt.Errorf("engine %s is to have another size now", c.Polled.Name)
		}
	case OpClone, OpRestore:
		return c.empty()
	case OpRevert:
		return c.maintained()
	case OpPurge:
		return c.stays()
	}
	return nil
}

// empty makes sure that no one uses the volume whose data is about to be replaced, and that it still waits for that: the
// engine's own status may have been lost.
func (c CallWorld) empty() error {
	v, now, polled := c.Volume, c.Now.Spec, c.Polled.Spec
	if now.RequestedDataSource != polled.RequestedDataSource || now.RequestedBackupRestore != polled.RequestedBackupRestore {
		return fmt.Errorf("engine %s is to have other data now", c.Polled.Name)
	}
	waits := v != nil && (c.Call.Op == OpClone && v.Status.CloneStatus.State == v1beta2.CloneInitiated ||
		c.Call.Op == OpRestore && v.Status.RestoreRequired)
	if !waits || !v.Spec.DisableFrontend || v.DeletionTimestamp != nil {
		return fmt.Errorf("volume %s does not wait for data, or is in use", c.Polled.Spec.VolumeName)
	}
	return nil
}

// maintained makes sure that no one can write to the volume that is about to lose what was written, and that this is still
// asked for: until the frontend is on again, reverting twice is reverting once.
func (c CallWorld) maintained() error {
	v, e := c.Volume, c.Polled
	if c.Now.Spec.RequestedRevert != e.Spec.RequestedRevert {
		return fmt.Errorf("engine %s is not to revert any more", e.Name)
	}
	if !IsOf(e, v) || v.DeletionTimestamp != nil {
		return fmt.Errorf("volume %s is going, or another one", e.Spec.VolumeName)
	}
	asked := v.Spec.RevertToSnapshot + "@" + v.Spec.RevertRequestedAt
	switch {
	case asked != e.Spec.RequestedRevert || v.Status.LastRevert == asked:
		return fmt.Errorf("volume %s is not to be reverted any more", v.Name)
	case !v.Spec.DisableFrontend || !v.Status.FrontendDisabled || !e.Spec.DisableFrontend:
		return fmt.Errorf("volume %s can be written to", v.Name)
	}
	return nil
}

// stays makes sure that no volume is purged that moves or goes.
func (c CallWorld) stays() error {
	v := c.Volume
	if v == nil || v.DeletionTimestamp != nil || v.Spec.MigrationNodeID != "" || v.Status.CurrentMigrationNodeID != "" {
		return fmt.Errorf("volume %s moves to another node, or is going", c.Polled.Spec.VolumeName)
	}
	return nil
}
