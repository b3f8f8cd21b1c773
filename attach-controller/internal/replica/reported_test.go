package replica

import (
	"strings"

	"drover.dev/drover/attach-controller/internal/placement"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// decide gives Decide the candidates if it needs them, as the reconciler does.
func decide(w World) Verdict {
	w.Candidates = nil
	if Needs(w) {
		w.Candidates = candidates(w)
	}
	return Decide(w)
}

func candidates(w World) []placement.Node {
	var out []placement.Node
	for _, name := range []string{"a", "b", "c", "d"} {
		n := w.Nodes[name]
		if n == nil {
			continue
		}
		c := placement.Node{Node: n, HasManager: true, Scheduled: map[string]int64{}}
		for _, r := range w.Replicas {
			c.Scheduled[r.Spec.DiskID] += r.Spec.VolumeSize
		}
		out = append(out, c)
	}
	return out
}

// reported is a verdict in short, one word for each action: "create:b take-back:c delete:d approve:a=Reason release:a poll".
func reported(v Verdict) string {
	var out []string
	of := func(r *v1beta2.Replica) string { return strings.TrimPrefix(r.Name, vol+"-r-") }
	for _, d := range v.Create {
		out = append(out, "create:"+d.Node)
	}
	for _, p := range v.Patches {
		if _, back := p.Spec["failedAt"]; back {
			out = append(out, "take-back:"+of(p.Replica))
		} else {
			out = append(out, "mark:"+of(p.Replica))
		}
	}
	for _, d := range v.Deletes {
		out = append(out, "delete:"+of(d.Replica))
	}
	for _, a := range v.Approvals {
		sign := map[v1beta2.ConditionStatus]string{v1beta2.ConditionTrue: "approve:", v1beta2.ConditionFalse: "refuse:"}[a.Status]
		out = append(out, sign+of(a.Replica)+"="+a.Reason)
	}
	for _, r := range v.Release {
		out = append(out, "release:"+of(r))
	}
	if v.Poll != "" {
		out = append(out, "poll")
	}
	for _, node := range v.WaitsFor {
		out = append(out, "waits-for:"+node)
	}
	return strings.Join(out, " ")
}

// reason is the final reason of Scheduled.
func reason(w World, v Verdict) string {
	if v.Scheduled != nil {
		return v.Scheduled.Reason
	}
	return conditions.Reason(w.Volume.Status.Conditions, v1beta2.VolumeScheduled)
}
