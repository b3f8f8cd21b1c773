// Package setting reads the three settings of orphans: what may be deleted automatically, after how long, and the old
// switch that the first one replaced. It knows no client, and nothing of what the values are used for.
//
// After a restart there is no last good value: automatic deletion is off until the setting is corrected.
package setting
