// Package setting lists the settings that disk-controller obeys, with their defaults and limits.
package setting

import "drover.dev/drover/shared/setting"

// Names of the Settings that disk-controller reads.
const (
	MinimalAvailable = "storage-minimal-available-percentage"
	OverProvisioning = "storage-over-provisioning-percentage"
	V2DataEngine     = "v2-data-engine"
)

// Values are the settings in force.
type Values struct {
	// MinimalAvailable and OverProvisioning are percentages: beyond them a v1 disk takes no further replica.
	MinimalAvailable, OverProvisioning int
	// DefaultDisk is for the disks of a labelled Kubernetes node.
	DefaultDisk setting.DefaultDisk
	// V2 reports whether the v2 data engine is on.
	V2 bool
}

// Defaults are the values in force without any Setting.
func Defaults() Values {
	return Values{MinimalAvailable: 25, OverProvisioning: 100, DefaultDisk: setting.DefaultDiskDefaults()}
}

// Catalogue reads them.
var Catalogue = setting.Catalogue[Values]{Defaults: Defaults, Readers: readers()}

func readers() map[string]setting.Reader[Values] {
	out := setting.DefaultDiskReaders(func(v *Values) *setting.DefaultDisk { return &v.DefaultDisk })
	out[MinimalAvailable] = setting.Number(0, 100, func(v *Values, n int) { v.MinimalAvailable = n })
	out[OverProvisioning] = setting.Number(0, setting.MostOverProvisioning, func(v *Values, n int) { v.OverProvisioning = n })
	out[V2DataEngine] = setting.Boolean(func(v *Values) *bool { return &v.V2 })
	return out
}
