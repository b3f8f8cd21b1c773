// Package setting reads the three settings of orphans: what may be deleted automatically, after how long, and the old
// switch that the first one replaced. It parses values and remembers the last good one of this process; it knows no
// client, and nothing of what the values are used for.
//
// A value that cannot be read never stops anything that runs: the last good value stays in force. After a restart
// there is no last good value, and automatic deletion is off until the setting is corrected.
package setting
