package backup

import "maps"

// Names of the labels that a backup has of its volume, and the value of one that marks. Who restores it reads them.
const (
	labelAccessMode       = "longhorn.io/volume-access-mode"
	labelEncrypted        = "volume-encrypted"
	labelKubernetesStatus = "KubernetesStatus"
	marked                = "enabled"
)

// Origin is what a backup reports of its volume, beside the data.
type Origin struct {
	// AccessMode is rwo or rwx; KubernetesStatus is what used the volume, as JSON. Either may be empty.
	AccessMode, KubernetesStatus string
	// LUKSRoom reports whether the data contains the header of an encrypted volume: it is larger than the volume by that.
	LUKSRoom bool
}

// Labels are those that a backup gets in its target: its own, and those of its volume. What used the volume may be among its own: whoever
// created the Backup knew it then.
func Labels(own map[string]string, o Origin) map[string]string {
	out := map[string]string{}
	if o.KubernetesStatus != "" {
		out[labelKubernetesStatus] = o.KubernetesStatus
	}
	maps.Copy(out, own)
	delete(out, labelEncrypted)
	if o.LUKSRoom {
		out[labelEncrypted] = marked
	}
	if o.AccessMode != "" {
		out[labelAccessMode] = o.AccessMode
	}
	return out
}
