// Package attach runs the scenarios A1 to A17 on a real API server: attach-controller, im-monitor and orphan-controller as
// processes of their own under their own Roles, the part of kube-controller-manager that attaches volumes for pods, and the
// simulator as the data plane. Volumes are created as users create them, by a Volume object, and held by tickets. Orphans of such
// volumes are tested here, too. A test with data reads it at the end, and asks the data plane for harm.
package attach
