package plan

import (
	"fmt"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/preflight"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

// Triers are the binaries that write or delete something in an upgrade. orphan-controller does neither.
var Triers = []string{"attach-controller", "im-monitor", "snapshot-controller", "upgrade-controller"}

// awaitsRehearsals lets each binary try the writes and deletions of the upgrade by dry-run requests, and reports whether it waits for an
// answer. A binary that does not answer in the time of initializing blocks the upgrade. That time begins with the request: the check of the
// images may have taken as long.
func (p *pass) awaitsRehearsals() bool {
	if p.status.RehearsalRequestedAt == "" {
		p.status.RehearsalRequestedAt = p.Now.UTC().Format(time.RFC3339Nano)
	}
	silent := p.silentBinaries()
	deadline := p.rehearsedSince().Add(nodeupgrade.Timeout(p.Manager, v1beta2.UpgradeStateInitializing))
	if len(silent) == 0 || !p.Now.Before(deadline) {
		return false
	}
	p.requeueAt(deadline)
	message := fmt.Sprintf("Each binary tries by dry-run requests what the upgrade will have to write and delete; no answer yet from: %s. "+
		"If this stays, check that it runs, leads (its Lease) and is of this release.", strings.Join(silent, ", "))
	p.condition(v1beta2.UpgradePreflight, v1beta2.ConditionFalse, v1beta2.ReasonTryingRequests, message)
	p.move(v1beta2.ReasonTryingRequests, message)
	return true
}

// rehearsedSince returns the time of the request to the binaries. If it cannot be read, it counts as long ago, and the wait is over.
func (p *pass) rehearsedSince() time.Time {
	since, err := time.Parse(time.RFC3339Nano, p.status.RehearsalRequestedAt)
	if err != nil {
		return time.Time{}
	}
	return since
}

// silentBinaries returns the binaries that have not answered the present request.
func (p *pass) silentBinaries() (out []string) {
	for _, binary := range Triers {
		if p.status.Rehearsals[binary].RequestedAt != p.status.RehearsalRequestedAt {
			out = append(out, binary)
		}
	}
	return out
}

// refusedRequests returns a blocker for each kind of request that the API server refused, and for each binary that did not answer.
func (p *pass) refusedRequests() (out []preflight.Blocker) {
	for _, binary := range Triers {
		answer := p.status.Rehearsals[binary]
		if answer.RequestedAt != p.status.RehearsalRequestedAt {
			out = append(out, preflight.Untried(binary))
			continue
		}
		for _, refused := range answer.Refused {
			out = append(out, preflight.Refused(binary, answer.User, refused))
		}
	}
	return out
}
