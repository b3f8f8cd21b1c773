// Package disks tests v2 disks against simulated devices with data: a device with data is never formatted, and no other lvstore
// is ever used in place of the recorded one.
package disks
