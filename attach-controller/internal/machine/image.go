package machine

import "drover.dev/drover/shared/api/v1beta2"

// newImage reports that a running v1 engine keeps its image: another one in spec.image is used from the next attachment on.
func (p *pass) newImage() {
	if p.isV2() || p.state != v1beta2.VolumeStateAttached || p.engine == nil || p.engine.Spec.Image == "" ||
		p.engine.Spec.Image == p.image() {
		return
	}
	p.wait(v1beta2.ReasonAttached, "Its engine runs image "+p.engine.Spec.Image+": spec.image "+p.image()+
		" is used from the next attachment on.")
}
