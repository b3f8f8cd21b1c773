package setting

import (
	"time"

	"drover.dev/drover/shared/setting"
)

// Values are the values of the settings for orphans of one data engine.
type Values struct {
	Items       Items
	GracePeriod time.Duration
	// Known is false while a value that cannot be read has no good predecessor in this process. Automatic deletion is
	// off then, but no person turned it off.
	Known bool
}

// Catalogue reads them. OldAutoDeletion is not among them: it is migrated, not obeyed.
var Catalogue = setting.Catalogue[Values]{
	Defaults: func() Values { return Values{GracePeriod: DefaultGracePeriod} },
	Readers: map[string]setting.Reader[Values]{
		AutoDeletion: setting.Text(func(v *Values, i Items) { v.Items = i }, ParseItems),
		GracePeriod:  setting.Text(func(v *Values, d time.Duration) { v.GracePeriod = d }, parseSeconds),
	},
}

// Memory keeps the last good value of each setting for as long as the process lives. Losing it only turns automatic
// deletion off. It is safe for concurrent use.
type Memory struct{ good *setting.Memory[Values] }

// Remember returns a Memory that holds the defaults.
func Remember() Memory { return Memory{setting.Remember(Catalogue)} }

// Read takes the present values (nil: the setting does not exist) and returns those in force for a data engine.
func (m Memory) Read(autoDeletion, gracePeriod *string, dataEngine string) Values {
	// What cannot be read is reported by the controller of the settings.
	_, _ = m.good.Set(AutoDeletion, autoDeletion)
	_, _ = m.good.Set(GracePeriod, gracePeriod)
	if !m.good.Known() {
		return Catalogue.Defaults()
	}
	v := m.good.Values(dataEngine)
	v.Known = true
	return v
}
