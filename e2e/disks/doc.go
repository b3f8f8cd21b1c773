// Package disks tests v2 disks against simulated devices that hold something: what a device holds is never formatted, and no other lvstore
// is ever taken for the recorded one.
package disks
