package instance

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// report copies a list's entry into the status.
func report(w World, e *Entry) Verdict {
	first := !w.Status.supervised()
	v := Verdict{Status: w.Status, Reason: ReasonDone}
	s := &v.Status
	s.NodeDown = ""
	s.State = seen(e.State, first)
	switch s.State {
	case v1beta2.InstanceStateRunning, v1beta2.InstanceStateSuspended:
		fill(w, e, s, first)
		return holding(w, e, v)
	case v1beta2.InstanceStateError:
		s.Starting, s.Started, s.InstanceManager = false, true, w.Here.InstanceManager
		v.Reason, v.Message = ReasonFailed, fmt.Sprintf("%s lists it as %s: %s", w.Here.InstanceManager, e.State, orNothing(e.Error))
	default:
		v.Reason, v.Message = ReasonChanging, fmt.Sprintf("%s lists it as %s.", w.Here.InstanceManager, e.State)
	}
	return v
}

// seen is the object's state for a listed state of an instance that is to run. A process that ended without a request has failed;
// a frontend that is pending after it ran is being recovered, with an unknown result.
func seen(state string, first bool) string {
	switch state {
	case v1beta2.InstanceStateRunning, v1beta2.InstanceStateSuspended, v1beta2.InstanceStateStopping:
		return state
	case v1beta2.InstanceStateError, v1beta2.InstanceStateStopped:
		return v1beta2.InstanceStateError
	case v1beta2.InstanceStateTerminating:
		return v1beta2.InstanceStateStopping
	case v1beta2.InstanceStateStarting, v1beta2.InstanceStatePending:
		if first {
			return v1beta2.InstanceStateStarting
		}
	}
	return v1beta2.InstanceStateUnknown
}

func orNothing(message string) string {
	if message == "" {
		return "it reports no cause."
	}
	return message
}

// fill reports where a live instance is. first: it was not listed before since its creation.
func fill(w World, e *Entry, s *Status, first bool) {
	s.Starting, s.Started = false, true
	s.InstanceManager, s.UUID, s.UblkID = w.Here.InstanceManager, e.UUID, e.UblkID
	if w.Here.IP != "" {
		s.IP, s.StorageIP = w.Here.IP, w.Here.IP
	}
	s.Port, s.Endpoint = e.Port, endpoint(w, e, *s)
	switch {
	case w.v2() && w.Here.Image != "": // it is a part of its instance manager, and has that one's image, whichever was asked for
		s.Image = w.Here.Image
	case first || s.Image == "":
		s.Image = w.Object.Image
	}
	s.SalvageExecuted = w.Object.SalvageRequested && (first || s.SalvageExecuted)
	if w.frontend() {
		fillFrontend(w, e, s, first)
	}
}

func fillFrontend(w World, e *Entry, s *Status, first bool) {
	s.ActivePath, s.PreferredPath, s.Paths = e.ActivePath, e.PreferredPath, e.Paths
	if at := record(e); at.Address() != "" {
		s.TargetIP, s.TargetPort = at.IP, at.Port
	}
	switch {
	case w.EngineSize > 0:
		s.Size = w.EngineSize
	case first:
		s.Size = w.Object.Size
	}
}

// endpoint is the endpoint that the server reports. A v1 server reports none: the device and the target have the volume's name.
func endpoint(w World, e *Entry, s Status) string {
	switch {
	case e.Endpoint != "" || w.v2() || !w.engine() || w.Object.DisableFrontend:
		return e.Endpoint
	case w.Object.Frontend == "blockdev":
		return "/dev/longhorn/" + w.Object.Volume
	case w.Object.Frontend == "iscsi" && s.StorageIP != "":
		return fmt.Sprintf("iscsi://%s:3260/iqn.2019-10.io.longhorn:%s/1", s.StorageIP, w.Object.Volume)
	}
	return ""
}
