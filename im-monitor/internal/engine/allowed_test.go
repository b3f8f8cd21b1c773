package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// allowedWorld is a call that is allowed, whatever its operation.
func allowedWorld(op Op) CallWorld {
	e := &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Name: "vol-e-0", OwnerReferences: []metav1.OwnerReference{{Kind: "Volume", Name: "vol",
		UID: "1"}}}}
	e.Spec.VolumeName, e.Spec.DisableFrontend, e.Spec.RequestedRevert = "vol", true, "snap@then"
	e.Spec.ReplicaAddressMap = map[string]string{"kept": "10.0.0.1:1"}
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol", UID: "1"}}
	v.Spec.DisableFrontend, v.Spec.RevertToSnapshot, v.Spec.RevertRequestedAt = true, "snap", "then"
	v.Status.FrontendDisabled, v.Status.RestoreRequired, v.Status.CloneStatus.State = true, true, v1beta2.CloneInitiated
	name := "kept"
	if op == OpRemove {
		name = "gone"
	}
	return CallWorld{Polled: e, Now: e.DeepCopy(), Volume: v, Call: Call{Op: op, Name: name, Address: "tcp://10.0.0.1:1"}}
}

func TestWhatHoldsACallUpRightBeforeIt(t *testing.T) {
	deleted := func(c *CallWorld) { c.Volume.DeletionTimestamp = &metav1.Time{} }
	gone := func(c *CallWorld) { c.Volume = nil }
	written := func(c *CallWorld) { c.Volume.Spec.DisableFrontend = false }
	for _, c := range []struct {
		name   string
		op     Op
		change func(*CallWorld)
		want   string
	}{
		{"a replica that is wanted is added", OpAdd, func(*CallWorld) {}, ""},
		{"one that is not wanted any more is not", OpAdd, func(c *CallWorld) { c.Now.Spec.ReplicaAddressMap = nil },
			"replica kept is not wanted any more"},
		{"its former address is not", OpAdd, func(c *CallWorld) { c.Now.Spec.ReplicaAddressMap["kept"] = "10.0.0.9:1" },
			"replica kept has another address now"},
		{"one that is not wanted is removed", OpRemove, func(*CallWorld) {}, ""},
		{"one that is wanted again is not", OpRemove, func(c *CallWorld) { c.Call.Name = "kept" }, "replica kept is wanted again"},
		{"its former address is", OpRemove, func(c *CallWorld) { c.Call.Name, c.Call.Address = "kept", "tcp://10.0.0.9:1" }, ""},
		{"one that a restore filled is verified", OpVerify, func(*CallWorld) {}, ""},
		{"not after the volume has its data", OpVerify, func(c *CallWorld) { c.Volume.Status.RestoreRequired = false },
			"replica kept is not filled by that restore any more"},
		{"not of v2", OpVerify, func(c *CallWorld) { c.Now.Spec.DataEngine = v1beta2.DataEngineV2 },
			"replica kept is not filled by that restore any more"},
		{"not while another backup is wanted", OpVerify, func(c *CallWorld) { c.Now.Spec.RequestedBackupRestore = "other" },
			"replica kept is not filled by that restore any more"},
		{"not at its former address", OpVerify, func(c *CallWorld) { c.Now.Spec.ReplicaAddressMap["kept"] = "10.0.0.9:1" },
			"replica kept is not filled by that restore any more"},
		{"an empty volume is filled by a clone", OpClone, func(*CallWorld) {}, ""},
		{"not twice", OpClone, func(c *CallWorld) { c.Volume.Status.CloneStatus.State = v1beta2.CloneCompleted },
			"volume vol does not wait for data, or is in use"},
		{"an empty volume is filled by a restore", OpRestore, func(*CallWorld) {}, ""},
		{"not after it was restored", OpRestore, func(c *CallWorld) { c.Volume.Status.RestoreRequired = false },
			"volume vol does not wait for data, or is in use"},
		{"not while it is used", OpRestore, written, "volume vol does not wait for data, or is in use"},
		{"not while it is deleted", OpRestore, deleted, "volume vol does not wait for data, or is in use"},
		{"not without it", OpRestore, gone, "volume vol does not wait for data, or is in use"},
		{"a volume in maintenance is reverted", OpRevert, func(*CallWorld) {}, ""},
		{"not to what is not asked for any more", OpRevert, func(c *CallWorld) { c.Now.Spec.RequestedRevert = "" },
			"engine vol-e-0 is not to revert any more"},
		{"not to what the volume does not ask for", OpRevert, func(c *CallWorld) { c.Volume.Spec.RevertToSnapshot = "other" },
			"volume vol is not to be reverted any more"},
		{"not twice, since what was written after it would be lost", OpRevert, func(c *CallWorld) { c.Volume.Status.LastRevert = "snap@then" },
			"volume vol is not to be reverted any more"},
		{"not while it can be written to", OpRevert, written, "volume vol can be written to"},
		{"not before the frontend is off", OpRevert, func(c *CallWorld) { c.Volume.Status.FrontendDisabled = false },
			"volume vol can be written to"},
		{"not with an engine that has a frontend", OpRevert, func(c *CallWorld) { c.Polled.Spec.DisableFrontend = false },
			"volume vol can be written to"},
		{"not another volume of the name", OpRevert, func(c *CallWorld) { c.Volume.UID = "2" }, "volume vol is going, or another one"},
		{"not one that goes", OpRevert, deleted, "volume vol is going, or another one"},
		{"not one that is gone", OpRevert, gone, "volume vol is going, or another one"},
		{"a volume that stays is purged", OpPurge, func(*CallWorld) {}, ""},
		{"not one that goes", OpPurge, deleted, "volume vol moves to another node, or is going"},
		{"not one that is gone", OpPurge, gone, "volume vol moves to another node, or is going"},
		{"not one that is to move", OpPurge, func(c *CallWorld) { c.Volume.Spec.MigrationNodeID = "node-2" },
			"volume vol moves to another node, or is going"},
		{"not one that moves", OpPurge, func(c *CallWorld) { c.Volume.Status.CurrentMigrationNodeID = "node-2" },
			"volume vol moves to another node, or is going"},
		{"not to a size that is not asked for any more", OpExpand, func(c *CallWorld) { c.Now.Spec.VolumeSize = 1 << 30 },
			"engine vol-e-0 is to have another size now"},
		{"not by the copy of another source", OpClone, func(c *CallWorld) { c.Now.Spec.RequestedDataSource = "vol://other/snap" },
			"engine vol-e-0 is to have other data now"},
		{"not from another backup", OpRestore, func(c *CallWorld) { c.Now.Spec.RequestedBackupRestore = "other" },
			"engine vol-e-0 is to have other data now"},
		{"an expansion reads no volume", OpExpand, gone, ""},
	} {
		t.Run(string(c.op)+": "+c.name, func(t *testing.T) {
			w := allowedWorld(c.op)
			c.change(&w)
			if c.want == "" {
				require.NoError(t, Allowed(w))
			} else {
				require.EqualError(t, Allowed(w), c.want)
				require.True(t, w.Volume != nil || c.op.ReadsVolume())
			}
		})
	}
}
