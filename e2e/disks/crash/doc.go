// Package crash kills im-monitor between each two writes and calls of the load of a v2 disk: of one that is initialized as new, one that is
// adopted, and one whose UUID is recorded.
package crash
