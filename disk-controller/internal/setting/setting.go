// Package setting lists the settings that disk-controller obeys, with their defaults and limits.
package setting

import "drover.dev/drover/shared/setting"

// Names of the Settings that disk-controller reads.
const (
	MinimalAvailable = "storage-minimal-available-percentage"
	OverProvisioning = "storage-over-provisioning-percentage"
)

// Values are the settings in force.
type Values struct {
	// MinimalAvailable and OverProvisioning are percentages: beyond them a v1 disk takes no further replica.
	MinimalAvailable, OverProvisioning int
}

// Defaults are the values in force without any Setting.
func Defaults() Values { return Values{MinimalAvailable: 25, OverProvisioning: 100} }

// Catalogue reads them.
var Catalogue = setting.Catalogue[Values]{Defaults: Defaults, Readers: map[string]setting.Reader[Values]{
	MinimalAvailable: setting.Number(0, 100, func(v *Values, n int) { v.MinimalAvailable = n }),
	OverProvisioning: setting.Number(0, setting.MostOverProvisioning, func(v *Values, n int) { v.OverProvisioning = n }),
}}
