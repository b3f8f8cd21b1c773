package present

import (
	"drover.dev/drover/api-gateway/internal/settings"
	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
)

// Setting is a setting as clients see it, also if no Setting object of its name exists.
type Setting struct {
	wire.Meta
	Name       string              `json:"name"`
	Value      string              `json:"value"`
	Applied    bool                `json:"applied"`
	Definition settings.Definition `json:"definition"`
}

// NewSetting returns a setting as clients see it. stored is nil if there is no Setting object: the default applies then. A setting
// that no controller reports on counts as applied, since interfaces list every unapplied setting as pending.
func NewSetting(base string, d settings.Definition, stored *v1beta2.Setting) Setting {
	out := Setting{Meta: wire.NewMeta(base, wire.TypeSetting, d.Name()), Name: d.Name(), Value: d.Default, Applied: true, Definition: d}
	if stored == nil {
		return out
	}
	out.Value = stored.Value
	if normal, err := d.Normalize(stored.Value); err == nil && d.DataEngineSpecific {
		out.Value = normal
	}
	out.Applied = stored.Status.Applied || len(stored.Status.Conditions) == 0
	return out
}
