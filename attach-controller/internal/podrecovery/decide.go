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

// GracePeriod is how long, in seconds, a pod has whose volume was detached under it.
const GracePeriod int64 = 30

// Verdict says what becomes of a pod.
type Verdict struct {
	Action Action
	// Volumes are why a pod is deleted.
	Volumes []string
	// Detachments are what ActionDetach deletes.
	Detachments []Detachment
	// Why is a sentence, also where nothing is done.
	Why string
	// At is when to decide again though nothing has changed; zero: only when something does.
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
	if v.Action == ActionNone && f.Pod.Waits {
		if free := heldElsewhere(f); free.Action != ActionNone {
			free.At = v.At
			return free
		}
	}
	return v
}

// detachedUnderIt deletes a pod whose mount is that of an engine that has ended.
func detachedUnderIt(f Facts) Verdict {
	switch {
	case f.Pod.Controller == "":
		return nothing("It has no controller: nobody would make another one.")
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
		case !v.Settings.AutoDeletePod:
			out.Why = fmt.Sprintf("Volume %s was detached under it, and auto-delete-pod-when-volume-detached-unexpectedly is false.", v.Name)
		case slices.Contains(v.Settings.SparedControllers, f.Pod.Controller):
			out.Why = fmt.Sprintf("Volume %s was detached under it, and the settings spare pods of %s.", v.Name, f.Pod.Controller)
		case v.Shared && !v.SharedSince.After(at):
			out.Why = fmt.Sprintf("The share of volume %s does not serve again yet.", v.Name)
		case f.Now.Before(due):
			out.Why = fmt.Sprintf("Volume %s was detached under it a moment ago.", v.Name)
			if out.At.IsZero() || due.Before(out.At) {
				out.At = due
			}
		default:
			return Verdict{Action: ActionDelete, Volumes: []string{v.Name}, Why: fmt.Sprintf("Volume %s was detached unexpectedly at %s; the pod, "+
				"which started at %s, still has the mount of before.", v.Name, stamp(at), stamp(f.Pod.Started))}
		}
	}
	return out
}

// leaving ends a pod that its kubelet cannot end: its volumes are free for another node before its name is.
func leaving(f Facts) Verdict {
	for _, v := range f.Volumes {
		if !v.Settings.NodeDownPolicy.Covers(f.Pod.Controller) {
			return nothing("node-down-pod-deletion-policy is %s, and its controller %q.", v.Settings.NodeDownPolicy, f.Pod.Controller)
		}
	}
	held, going := attachedHere(f)
	switch {
	case f.Pod.Forced:
		return nothing("It was deleted by force, and waits for its finalizers.")
	case !f.Node.lost():
		return nothing("Its node %s is not down: its kubelet ends it.", f.Pod.Node)
	case len(held) > 0:
		return Verdict{Action: ActionDetach, Detachments: held, Why: held[0].Why}
	case going != "":
		return nothing("VolumeAttachment %s is not gone yet.", going)
	case f.Now.Before(f.Pod.DeletedAt):
		out := nothing("Its grace is over at %s.", stamp(f.Pod.DeletedAt))
		out.At = f.Pod.DeletedAt
		return out
	}
	out := Verdict{Action: ActionForceDelete, Why: fmt.Sprintf("Node %s is down, and the grace of the pod was over at %s; its controller may make another one.",
		f.Pod.Node, stamp(f.Pod.DeletedAt))}
	for _, v := range f.Volumes {
		out.Volumes = append(out.Volumes, v.Name)
	}
	return out
}

// attachedHere collects what holds the pod's volumes on its node, but for what another pod there keeps, and names one that is on its way out.
func attachedHere(f Facts) (held []Detachment, going string) {
	for _, v := range f.Volumes {
		for _, a := range v.Attachments {
			kept := slices.ContainsFunc(a.Users, func(u User) bool { return !u.Leaves })
			switch {
			case a.Node.Name != f.Pod.Node || kept:
			case a.Deleting:
				going = a.Name
			default:
				held = append(held, Detachment{Attachment: a.Name, Volume: v.Name,
					Why: fmt.Sprintf("Node %s is down, and a pod there that uses volume %s is being deleted.", f.Pod.Node, v.Name)})
			}
		}
	}
	return held, going
}

// heldElsewhere frees what a pod waits for from a node that is down, where the pod that used it there was deleted by force.
func heldElsewhere(f Facts) Verdict {
	var out Verdict
	for _, v := range f.Volumes {
		for _, a := range v.Attachments {
			if v.ManyNodes || a.Node.Name == f.Pod.Node || a.Deleting || !a.Node.lost() || len(a.Users) > 0 {
				continue
			}
			out.Action = ActionDetach
			out.Detachments = append(out.Detachments, Detachment{Attachment: a.Name, Volume: v.Name, Why: fmt.Sprintf(
				"Node %s is down, no pod there uses volume %s any more, and a pod on node %s waits for it.", a.Node.Name, v.Name, f.Pod.Node)})
			out.Why = out.Detachments[0].Why
		}
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
