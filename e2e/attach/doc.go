// Package attach tells the scenarios A1 to A17 on a real API server: attach-controller, im-monitor and orphan-controller as
// processes of their own under their own Roles, the part of kube-controller-manager that attaches volumes for pods, and the
// simulator as the data plane. Volumes are made as users make them, by a Volume object, and held by tickets. Orphans of such
// volumes are told here, too. Wherever there is data, it is read in the end, and the data plane is asked for harm.
package attach
