// Package attach tells the scenarios A1 to A17 on a real API server: attach-controller, im-monitor and orphan-controller as
// processes of their own under their own Roles, and the simulator as the data plane. Volumes are made as users make them,
// by a Volume object, and held by tickets.
package attach
