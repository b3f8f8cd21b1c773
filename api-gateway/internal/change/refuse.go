package change

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// refuseUnhonored returns why a volume cannot be made as asked: no controller of Drover obeys these fields, so that a volume with them
// would promise too much. docs/limits.md has the same list.
func refuseUnhonored(in VolumeInput) error {
	for _, p := range []struct {
		name, value string
		accepted    []string
		why         string
	}{
		{"replicaAutoBalance", in.ReplicaAutoBalance, []string{"", ignored, "disabled"},
			"replicas stay where they are placed; leave it out"},
		{"snapshotDataIntegrity", in.SnapshotDataIntegrity, []string{"", ignored, "disabled"}, "snapshots are not hashed; leave it out"},
		{"freezeFilesystemForSnapshot", in.FreezeFilesystemForSnapshot, []string{"", ignored, "disabled"},
			"file systems are not frozen for snapshots; leave it out"},
		{"restoreVolumeRecurringJob", in.RestoreVolumeRecurringJob, []string{"", ignored, "disabled"},
			"a restored volume gets no recurring jobs of its backup; name them in recurringJobSelector"},
		{"cloneMode", in.CloneMode, []string{"", "full-copy"}, "a clone is always a full copy of its source; leave it out, or write full-copy"},
	} {
		if !slices.Contains(p.accepted, p.value) {
			return fmt.Errorf("%s %q is not done: %s", p.name, p.value, p.why)
		}
	}
	if err := refuseSharing(in.AccessMode, in.Migratable); err != nil {
		return err
	}
	if len(in.TopologyRequirement) > 0 {
		return fmt.Errorf("topologyRequirement is not done: replicas may lie in any zone and region; tag the nodes and give nodeSelector, or " +
			"empty the setting csi-allowed-topology-keys")
	}
	if l := in.DataLayout; l != nil && (l.Type != "" && l.Type != "replicated" || l.Mode != "" && l.Mode != "raid1") {
		return fmt.Errorf("dataLayout with type %q and mode %q is not done: each replica has all the data; leave it out", l.Type, l.Mode)
	}
	if n, err := in.ReplicaRebuildingBandwidthLimit.Bytes(); err != nil || n != 0 {
		return fmt.Errorf("replicaRebuildingBandwidthLimit %q is not done: rebuilds are as fast as the data engine lets them; leave it out",
			string(in.ReplicaRebuildingBandwidthLimit))
	}
	return nil
}

// refuseSharing returns why a volume cannot have an access mode: only a share manager can share a volume among nodes, and the volume's pods
// would wait for ever. A migratable volume has no file system, and needs no share manager.
func refuseSharing(accessMode string, migratable bool) error {
	if accessMode == v1beta2.AccessModeReadWriteMany && !migratable {
		return fmt.Errorf("accessMode %q is not done: no controller makes share managers; claim ReadWriteOnce, or name migratable in the "+
			"class for the disks of virtual machines", accessMode)
	}
	return nil
}

// refuseSelectors returns an error about a tag that no disk or node has: such a volume would wait for ever.
func refuseSelectors(in VolumeInput, f VolumeFacts) error {
	for _, tag := range in.DiskSelector {
		if !slices.Contains(f.DiskTags, tag) {
			return fmt.Errorf("diskSelector: no disk has the tag %q; the tags are %v", tag, f.DiskTags)
		}
	}
	for _, tag := range in.NodeSelector {
		if !slices.Contains(f.NodeTags, tag) {
			return fmt.Errorf("nodeSelector: no node has the tag %q; the tags are %v", tag, f.NodeTags)
		}
	}
	return nil
}

// refuseEngine returns why a volume cannot be made for its data engine, or from its source.
func refuseEngine(spec v1beta2.VolumeSpec, in VolumeInput, f VolumeFacts) error {
	if spec.DataEngine != v1beta2.DataEngineV1 && spec.DataEngine != v1beta2.DataEngineV2 {
		return fmt.Errorf("dataEngine %q: there are v1 and v2", spec.DataEngine)
	}
	if name := spec.DataEngine + "-data-engine"; f.Setting(name, spec.DataEngine) == "false" {
		return fmt.Errorf("dataEngine %s is switched off by the setting %s", spec.DataEngine, name)
	}
	if in.Standby && (in.Frontend != "" || in.FromBackup == "") {
		return fmt.Errorf("a standby volume has no frontend, and names the backup that it follows in fromBackup")
	}
	if in.DataSource == "" {
		return nil
	}
	volume, snapshot := SourceOf(in.DataSource)
	switch {
	case volume == "":
		return fmt.Errorf("dataSource %q is neither vol://<volume> nor snap://<volume>/<snapshot>", in.DataSource)
	case f.Source == nil:
		return fmt.Errorf("dataSource %q: there is no volume %q", in.DataSource, volume)
	case dataEngineOf(f.Source) != spec.DataEngine:
		return fmt.Errorf("dataSource %q: the data engine of volume %s is %s, not %s", in.DataSource, volume, dataEngineOf(f.Source),
			spec.DataEngine)
	case snapshot != "" && f.Snapshot == nil:
		return fmt.Errorf("dataSource %q: there is no snapshot %q", in.DataSource, snapshot)
	case snapshot != "" && (f.Snapshot.Spec.Volume != volume || !f.Snapshot.Status.ReadyToUse):
		return fmt.Errorf("dataSource %q: snapshot %s of volume %s is not ready: %s", in.DataSource, snapshot, f.Snapshot.Spec.Volume,
			f.Snapshot.Status.Error)
	}
	return nil
}

func dataEngineOf(v *v1beta2.Volume) string { return cmp.Or(v.Spec.DataEngine, v1beta2.DataEngineV1) }

// SourceOf returns the volume and the snapshot that a data source names, in lower case as objects are named. The snapshot is empty if the
// data source is a volume; both are empty if the text is no data source.
func SourceOf(source string) (volume, snapshot string) {
	source = strings.ToLower(source)
	if volume, found := strings.CutPrefix(source, "vol://"); found {
		return volume, ""
	}
	if path, found := strings.CutPrefix(source, "snap://"); found {
		volume, snapshot, _ = strings.Cut(path, "/")
		return volume, snapshot
	}
	return "", ""
}
