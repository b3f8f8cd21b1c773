// Package setting lists the settings that upgrade-controller obeys.
package setting

import "drover.dev/drover/shared/setting"

// Names of the settings.
const (
	DefaultInstanceManagerImage = "default-instance-manager-image"
	RegistrySecret              = "registry-secret"
)

// Values are the values of the settings.
type Values struct {
	// Image is what upgrades freeze; empty: none is named.
	Image string
	// PullSecret is the Secret with which it is pulled; empty: none.
	PullSecret string
}

// Catalogue reads them.
var Catalogue = setting.Catalogue[Values]{
	Defaults: func() Values { return Values{} },
	Readers: map[string]setting.Reader[Values]{
		DefaultInstanceManagerImage: setting.Text(func(v *Values, s string) { v.Image = s }, setting.ParseImage),
		RegistrySecret:              setting.Text(func(v *Values, s string) { v.PullSecret = s }, setting.ParseName("a Secret")),
	},
}
