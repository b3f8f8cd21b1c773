package podrecovery

import (
	"fmt"
	"slices"
	"time"
)

// remountPause is how long a pod is left alone after its volume was detached under it.
const remountPause = 5 * time.Second

// Action is what is to be done.
type Action string

// The actions.
const (
	// ActionNone: nothing, or nothing yet.
	ActionNone Action = ""
	// ActionDelete deletes the pod with GracePeriod.
	ActionDelete Action = "delete"
	// ActionDetach deletes the VolumeAttachments of the verdict.
	ActionDetach Action = "detach"
	// ActionForceDelete deletes the pod without grace.
	ActionForceDelete Action = "force-delete"
)

// GracePeriod is the grace, in seconds, of a pod whose volume was detached under it.
const GracePeriod int64 = 30

// Verdict is the result for a pod.
type Verdict struct {
	Action Action
	// Volumes are why a pod is deleted.
	Volumes []string
	// Detachments are what ActionDetach deletes.
	Detachments []Detachment
	// Why is a sentence, also if nothing is done.
	Why string
	// Unmountable are the volumes that were detached under the pod, if it stays only because another pod could not mount them now.
	Unmountable []string
	// At is when to decide again although nothing has changed; zero: only when something does.
	At time.Time
}

// Detachment is the deletion of one VolumeAttachment of Kubernetes.
type Detachment struct{ Attachment, Volume, Why string }

func nothing(format string, args ...any) Verdict { return Verdict{Why: fmt.Sprintf(format, args...)} }

// Decide is total and deterministic.
func Decide(f Facts) Verdict {
	switch {
	case f.Pod.Node == "" || len(f.Volumes) == 0:
		return nothing("It is not scheduled, or uses no Longhorn volume.")
	case f.Pod.Leaving():
		return leaving(f)
	case f.Pod.Ended:
		return nothing("It has ended: it mounts nothing any more.")
	}
	v := detachedUnderIt(f)
	if v.Action != ActionNone || !f.Pod.Waits {
		return v
	}
	free := heldElsewhere(f)
	at := sooner(v.At, free.At)
	if free.Action != ActionNone {
		v = free
	}
	v.At = at
	return v
}

// detachedUnderIt deletes a pod whose mount belongs to an engine that has ended.
func detachedUnderIt(f Facts) Verdict {
	switch {
	case f.Pod.Controller == "":
		return nothing("It has no controller that would create another one.")
	case f.Pod.Started.IsZero():
		return nothing("It has not started.")
	}
	out := nothing("No volume was detached under it.")
	for _, v := range f.Volumes {
		at := v.RemountRequestedAt
		if at.IsZero() || !f.Pod.Started.Before(at) {
			continue
		}
		due := at.Add(remountPause)
		switch {
		case !v.FirstDeletionAt.IsZero() && !f.Pod.Created.Before(v.FirstDeletionAt):
			out.Why = fmt.Sprintf("Volume %s was detached, and the pod was created after the first pod was deleted for that.", v.Name)
		case !v.Settings.AutoDeletePod:
			out.Why = fmt.Sprintf("Volume %s was detached under it, and auto-delete-pod-when-volume-detached-unexpectedly is false.",
				v.Name)
		case slices.Contains(v.Settings.SparedControllers, f.Pod.Controller):
			out.Why = fmt.Sprintf("Volume %s was detached under it, and the settings spare pods of %s.", v.Name, f.Pod.Controller)
		case v.Shared && !v.SharedSince.After(at):
			out.Why = fmt.Sprintf("The share of volume %s does not serve again yet.", v.Name)
		case f.Now.Before(due):
			out.Why = fmt.Sprintf("Volume %s was detached under it a moment ago.", v.Name)
			out.At = sooner(out.At, due)
		case !f.Backend:
			out.Unmountable = append(out.Unmountable, v.Name)
			out.Why = fmt.Sprintf("Volume %s was detached under it, and no other pod could mount it now: Service longhorn-backend leads to "+
				"no ready pod.", v.Name)
		default:
			return Verdict{Action: ActionDelete, Volumes: []string{v.Name},
				Why: fmt.Sprintf("Volume %s was detached unexpectedly at %s; the pod, "+
					"which started at %s, still has the mount of before.", v.Name, stamp(at), stamp(f.Pod.Started))}
		}
	}
	return out
}

// leaving ends a pod that its kubelet cannot end: its volumes are freed for another node before its name is. Nothing is done before its
// grace is over: a pod that still writes its data keeps its volumes, and a down node is not urgent.
func leaving(f Facts) Verdict {
	for _, v := range f.Volumes {
		if !v.Settings.NodeDownPolicy.Covers(f.Pod.Controller) {
			return nothing("node-down-pod-deletion-policy is %s, and its controller %q.", v.Settings.NodeDownPolicy, f.Pod.Controller)
		}
	}
	here := attachedHere(f)
	lostFrom, lost := f.Node.lostFrom()
	switch {
	case f.Pod.Forced:
		return nothing("It was deleted by force, and waits for its finalizers.")
	case !lost:
		return nothing("Its node %s is not down: its kubelet ends it.", f.Pod.Node)
	case f.Now.Before(lostFrom):
		return until(lostFrom, "Its node %s is not ready by its kubelet's own report: it is left alone until %s.", f.Pod.Node,
			stamp(lostFrom))
	case f.Now.Before(here.until):
		return until(here.until, "Its grace, and that of other pods with its volumes, is over at %s.", stamp(here.until))
	case len(here.held) > 0:
		return Verdict{Action: ActionDetach, Detachments: here.held, Why: here.held[0].Why}
	case here.going != "":
		return nothing("VolumeAttachment %s is not gone yet.", here.going)
	}
	out := Verdict{Action: ActionForceDelete, Why: fmt.Sprintf("Node %s is down, and the grace of the pod was over at %s; its "+
		"controller may create another one.",
		f.Pod.Node, stamp(f.Pod.DeletedAt))}
	for _, v := range f.Volumes {
		out.Volumes = append(out.Volumes, v.Name)
	}
	return out
}

// here is what keeps a pod's volumes on its node, except what another pod there keeps.
type here struct {
	held []Detachment
	// going names a VolumeAttachment that is being deleted.
	going string
	// until is when the grace of all leaving pods that use the volume is over.
	until time.Time
}

func attachedHere(f Facts) here {
	out := here{until: f.Pod.DeletedAt}
	for _, v := range f.Volumes {
		for _, a := range v.Attachments {
			kept := slices.ContainsFunc(a.Users, func(u User) bool { return !u.Leaves })
			switch {
			case a.Node.Name != f.Pod.Node || kept:
			case a.Deleting:
				out.going = a.Name
			default:
				out.held = append(out.held, Detachment{Attachment: a.Name, Volume: v.Name,
					Why: fmt.Sprintf("Node %s is down, and a pod there that uses volume %s is being deleted.", f.Pod.Node, v.Name)})
				for _, u := range a.Users {
					out.until = later(out.until, u.Until)
				}
			}
		}
	}
	return out
}

// heldElsewhere frees a volume that a pod waits for from a down node, if the pod that used it there was deleted by force.
func heldElsewhere(f Facts) Verdict {
	var out Verdict
	for _, v := range f.Volumes {
		for _, a := range v.Attachments {
			lostFrom, lost := a.Node.lostFrom()
			switch {
			case v.ManyNodes || a.Node.Name == f.Pod.Node || a.Deleting || !lost || len(a.Users) > 0:
			case f.Now.Before(lostFrom):
				out.At = sooner(out.At, lostFrom)
			default:
				out.Action = ActionDetach
				out.Detachments = append(out.Detachments, Detachment{Attachment: a.Name, Volume: v.Name, Why: fmt.Sprintf(
					"Node %s is down, no pod there uses volume %s any more, and a pod on node %s waits for it.", a.Node.Name, v.Name,
					f.Pod.Node)})
				out.Why = out.Detachments[0].Why
			}
		}
	}
	return out
}

func until(at time.Time, format string, args ...any) Verdict {
	out := nothing(format, args...)
	out.At = at
	return out
}

// sooner is the first of two times; zero means none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
