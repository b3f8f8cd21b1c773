package machine

import "drover.dev/drover/shared/api/v1beta2"

// imageNotice reports that a running v1 engine keeps its image: another one in spec.image is used from the next attachment on.
type imageNotice struct{ *draft }

func (n imageNotice) decide() {
	if n.isV2() || n.state != v1beta2.VolumeStateAttached || n.engine == nil || n.engine.Spec.Image == "" ||
		n.engine.Spec.Image == n.image() {
		return
	}
	n.wait(v1beta2.ReasonAttached, "Its engine runs image "+n.engine.Spec.Image+": spec.image "+n.image()+
		" is used from the next attachment on.")
}
