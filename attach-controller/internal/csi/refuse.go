package csi

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// refuse returns why there is no ticket, with the next step; empty: no refusal. The order of the checks is that of their premises.
func refuse(w World) string {
	for _, check := range []func(World) string{persistentVolume, existence, accessMode, data, place} {
		if refusal := check(w); refusal != "" {
			return refusal
		}
	}
	return ""
}

// persistentVolume checks the PersistentVolume in the VolumeAttachment.
func persistentVolume(w World) string {
	name, pv := w.Attachment.PersistentVolume, w.PersistentVolume
	switch {
	case name == "":
		return "the VolumeAttachment names no PersistentVolume: driver.longhorn.io attaches PersistentVolumes only, inline volumes " +
			"cannot be attached"
	case pv == nil:
		return fmt.Sprintf("PersistentVolume %s does not exist: create it, or delete the pod that uses its claim", name)
	case pv.Driver != Driver || pv.Handle == "":
		return fmt.Sprintf("PersistentVolume %s is of driver %q with handle %q: its StorageClass and this VolumeAttachment's attacher "+
			"must agree on %s",
			name, pv.Driver, pv.Handle, Driver)
	case pv.Deleting:
		return fmt.Sprintf("PersistentVolume %s of volume %s is being deleted: nothing can be attached from it; create another one for "+
			"the volume", name, pv.Handle)
	}
	return ""
}

// existence checks that there is a volume to attach.
func existence(w World) string {
	handle := w.PersistentVolume.Handle
	switch {
	case w.Volume == nil:
		return fmt.Sprintf("volume %s does not exist: restore or create the Longhorn volume, or delete PersistentVolume %s", handle,
			w.PersistentVolume.Name)
	case w.Volume.Deleting || w.Tickets != nil && w.Tickets.Deleting:
		return fmt.Sprintf("volume %s is being deleted: use another volume", handle)
	}
	return ""
}

// accessMode checks that the volume can be used as the PersistentVolume promises.
func accessMode(w World) string {
	v := w.Volume
	switch {
	case w.PersistentVolume.ManyNodes && v.AccessMode != v1beta2.AccessModeReadWriteMany:
		return fmt.Sprintf("volume %s has access mode %s, while PersistentVolume %s is for many nodes: set spec.accessMode of the "+
			"volume to rwx, or give the PersistentVolume an access mode of one node",
			v.Name, v.AccessMode, w.PersistentVolume.Name)
	case v.Frontend == frontendISCSI || v.Frontend == frontendNVMf:
		return fmt.Sprintf("volume %s has frontend %s, which no pod can mount: set spec.frontend of the volume to blockdev or ublk", v.Name,
			v.Frontend)
	}
	return ""
}

// data checks that the volume has its data.
func data(w World) string {
	v := w.Volume
	switch {
	case v.Standby:
		return fmt.Sprintf("volume %s is a disaster-recovery copy: activate it (spec.Standby: false) before a pod uses it", v.Name)
	case v.Restoring && v.Fault != "":
		return fmt.Sprintf("volume %s could not be restored from its backup yet: %s", v.Name, v.Fault)
	case v.Restoring:
		return fmt.Sprintf("volume %s is being restored from its backup: it can be attached when that is done", v.Name)
	case v.Cloning == cloneFailed:
		return fmt.Sprintf("volume %s could not be filled from its source (cloning failed): its condition Attached shows whether that is "+
			"tried again; else create it again", v.Name)
	case v.Cloning != "":
		return fmt.Sprintf("volume %s is being filled from its source (cloning: %s): it can be attached when that is done", v.Name,
			v.Cloning)
	case v.Robustness == v1beta2.VolumeRobustnessFaulted && v.State != v1beta2.VolumeStateAttached:
		return fmt.Sprintf("volume %s is faulted, no replica of it can be used: start the nodes of its replicas again, or salvage or "+
			"restore it", v.Name)
	}
	return ""
}

// place checks that the node can attach a volume.
func place(w World) string {
	host, volume := w.Attachment.HostName, w.Volume.Name
	id := w.NodeID()
	switch {
	case w.Host == nil:
		return fmt.Sprintf("volume %s cannot be attached to node %s, which does not exist: delete the pod", volume, host)
	case w.Host.OutOfService:
		return fmt.Sprintf("volume %s cannot be attached to node %s, which is tainted node.kubernetes.io/out-of-service: remove the "+
			"taint when the node is back", volume, host)
	case id == "":
		return fmt.Sprintf("volume %s cannot be attached to node %s, where %s is not registered: the CSINode lists it once the pod of "+
			"longhorn-csi-plugin runs there", volume, host, Driver)
	case w.Node == nil:
		return fmt.Sprintf("volume %s cannot be attached to node %s, for which there is no Longhorn Node: let Longhorn run on it, or "+
			"move the pod", volume, id)
	case w.Node.Down:
		return fmt.Sprintf("volume %s cannot be attached to node %s, which is down: start it again, or move the pod", volume, id)
	}
	return ""
}
