package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	"drover.dev/drover/e2e/record"
)

// finding is a violation.
type finding struct {
	at   time.Time
	what string
}

// hold is the state of one lease.
type hold struct {
	holder, source string
	since, renewed time.Time
	duration       time.Duration
}

// slack is how much earlier than its expiry by the recorder's clock a lease may be taken: the recorder has a renewal at the time of its
// answer.
const slack = time.Second

var kind = coordinationv1.SchemeGroupVersion.WithKind("Lease")

// checkLeases replays what happened to the controllers' leases, and finds
//   - each lease that was released by another process than its holder, or taken before it had expired;
//   - each write of a process that was accepted although another process had taken the lease before the request began, except one: it was
//     in flight when the process was stopped.
func checkLeases(leases, writes []record.Write) []finding {
	var out []finding
	taken := map[string][]hold{}
	now := map[string]hold{}
	for _, w := range leases {
		if w.Code >= 300 || !strings.HasPrefix(w.Object, "drover-") {
			continue
		}
		lease := coordinationv1.Lease{}
		if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(w.Body, &kind, &lease); err != nil { // protobuf, or JSON
			out = append(out, finding{w.Began, fmt.Sprintf("the lease %s was written as %q: %v", w.Object, w.Body, err)})
			continue
		}
		before := now[w.Object]
		next := hold{holder: ptr.Deref(lease.Spec.HolderIdentity, ""), source: w.Source, since: before.since, renewed: w.Ended,
			duration: time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second}
		switch {
		case next.holder == "" && before.holder != "" && before.source != w.Source:
			out = append(out, finding{w.Began, fmt.Sprintf("the lease %s of %s was released by another process", w.Object, before.holder)})
		case next.holder != "" && next.holder != before.holder:
			if before.holder != "" && w.Began.Sub(before.renewed) < before.duration-slack {
				out = append(out, finding{w.Began,
					fmt.Sprintf("%s took the lease %s of %s %s after its last renewal", next.holder, w.Object, before.holder,
						w.Began.Sub(before.renewed).Round(time.Millisecond))})
			}
			next.since = w.Ended
			taken[w.Object] = append(taken[w.Object], next)
		}
		now[w.Object] = next
	}
	return append(out, late(taken, writes)...)
}

// late finds the writes of processes that were no longer the leader.
func late(taken map[string][]hold, writes []record.Write) []finding {
	var out []finding
	underWay := map[string]bool{}
	for _, w := range writes {
		holder, former := holderAt(taken[leaseOf(w.User)], w)
		if w.Code >= 300 || holder == nil || holder.source == w.Source || !former {
			continue
		}
		lost := w.Source + holder.since.String()
		if !underWay[lost] {
			underWay[lost] = true
			continue
		}
		out = append(out, finding{w.Began, fmt.Sprintf("%s of %s was accepted %s after %s had taken the lease", w.Request, w.User,
			w.Began.Sub(holder.since).Round(time.Millisecond), holder.holder)})
	}
	return out
}

// holderAt is the last holder of the lease when the write began; former reports whether the writer had held it before.
func holderAt(taken []hold, w record.Write) (holder *hold, former bool) {
	for i := range taken {
		if taken[i].since.After(w.Began) {
			break
		}
		holder = &taken[i]
		former = former || taken[i].source == w.Source
	}
	return holder, former
}

// shows reports whether a renewal by the process since then carries a time that is about that far from the recorder's.
func shows(leases []record.Write, source string, offset time.Duration, since time.Time) bool {
	return slices.ContainsFunc(leases, func(w record.Write) bool {
		lease := coordinationv1.Lease{}
		if w.Source != source || w.Began.Before(since) || w.Code >= 300 {
			return false
		}
		if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(w.Body, &kind, &lease); err != nil || lease.Spec.RenewTime == nil {
			return false
		}
		// A slow machine may send the renewal late, and the time is whole to the second.
		return (lease.Spec.RenewTime.Sub(w.Began) - offset).Abs() < offset.Abs()/2+slack/2
	})
}
