package machine

import (
	"fmt"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// progress keeps what a new volume takes its data from.
func (p *pass) progress() {
	if p.v.Spec.FromBackup != "" {
		p.restore()
	}
	if p.v.Spec.DataSource != "" {
		p.clone()
	}
}

// sourceOf reads `snap://<volume>/<snapshot>`.
func sourceOf(text string) (volume, snapshot string) {
	rest, ok := strings.CutPrefix(text, "snap://")
	if !ok {
		rest = strings.TrimPrefix(text, "vol://")
	}
	volume, snapshot, _ = strings.Cut(rest, "/")
	return volume, snapshot
}

func (p *pass) clone() {
	volume, snapshot := sourceOf(p.v.Spec.DataSource)
	c := p.v.Status.CloneStatus
	switch c.State {
	case "":
		if !p.everHealthy() { // only a new volume is filled
			p.cloneState(v1beta2.CloneInitiated, volume, snapshot)
		}
	case v1beta2.CloneInitiated:
		p.copyData(volume, snapshot)
	case v1beta2.CloneFailed:
		p.wait(v1beta2.ReasonCloning, "Copying from "+p.v.Spec.DataSource+" failed, the event CloneFailed says why: delete the volume and create it again.")
	case v1beta2.CloneCopyCompleted:
		if p.robustness() == v1beta2.VolumeRobustnessHealthy {
			p.cloneState(v1beta2.CloneCompleted, volume, snapshot)
			p.say(Happening{Reason: EventCloned, Note: "The volume was cloned from " + p.v.Spec.DataSource + "."})
		}
	}
}

func (p *pass) cloneState(state, volume, snapshot string) {
	p.set("cloneStatus", nil, map[string]any{"state": state, "sourceVolume": volume, "snapshot": snapshot})
}

// copyData asks for the copy once both engines run, and reads how it went.
func (p *pass) copyData(volume, snapshot string) {
	if snapshot == "" {
		p.wait(v1beta2.ReasonCloning, "A clone needs a snapshot of "+volume+": create the volume anew with spec.dataSource snap://"+volume+"/<snapshot>.")
		return
	}
	if !p.engineUp() || p.state != v1beta2.VolumeStateAttached || p.Source == nil || !p.v.Spec.DisableFrontend {
		p.wait(v1beta2.ReasonCloning, "The copy waits until "+volume+" is attached, and this volume, too, without a frontend.")
		return
	}
	if p.engine.Spec.RequestedDataSource != p.v.Spec.DataSource {
		p.patch(StageStop, p.engine, "requestedDataSource", p.v.Spec.DataSource)
		return
	}
	done := len(p.engine.Status.CloneStatus) > 0
	for where, one := range p.engine.Status.CloneStatus {
		switch {
		case one.State == "error" || one.Error != "":
			p.cloneState(v1beta2.CloneFailed, volume, snapshot)
			p.say(Happening{Reason: EventCloneFailed, Warning: true, Note: fmt.Sprintf("Copying from %s to %s failed: %s", volume, where, one.Error)})
			return
		case one.State != "complete":
			done = false
		}
	}
	if done {
		p.cloneState(v1beta2.CloneCopyCompleted, volume, snapshot)
	}
}

// SourceOf is the volume that a data source names; empty where there is none.
func SourceOf(dataSource string) string {
	if dataSource == "" {
		return ""
	}
	volume, _ := sourceOf(dataSource)
	return volume
}
