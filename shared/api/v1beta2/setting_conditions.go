package v1beta2

// Condition types of a Setting.
const (
	// SettingApplied (writer the controller that reads the setting, attach-controller where none does) mirrors
	// status.applied; the message explains why the value is not in force.
	SettingApplied = "Applied"
)

// Reasons of SettingApplied.
const (
	// ReasonInForce surfaces when the value was read; the message names the controllers that obey it.
	ReasonInForce = "InForce"
	// ReasonInvalidValue surfaces while the value cannot be read; the message explains why, and what is in force instead.
	ReasonInvalidValue = "InvalidValue"
	// ReasonNotObeyed surfaces on a setting that no controller of Drover obeys: Longhorn's alone, or an unknown name.
	ReasonNotObeyed = "NotObeyed"
)
