package instancecontroller

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// Key is one object: its kind in the wire's word, and its name, which is the instance's.
type Key struct{ Kind, Name string }

// kinds are all, in the order in which a volume is opened.
var kinds = []string{v1beta2.InstanceTypeReplica, v1beta2.InstanceTypeEngine, v1beta2.InstanceTypeEngineFrontend}

// empty is a new object of the kind.
func empty(kind string) client.Object {
	switch kind {
	case v1beta2.InstanceTypeEngine:
		return &v1beta2.Engine{}
	case v1beta2.InstanceTypeEngineFrontend:
		return &v1beta2.EngineFrontend{}
	}
	return &v1beta2.Replica{}
}

func ofVolume(volume string) client.MatchingLabels {
	return client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(volume)}
}

// volumeOf is the volume that the name of an engine or a frontend reports; empty for other names.
func volumeOf(name string) string {
	if at := max(strings.LastIndex(name, "-e-"), strings.LastIndex(name, "-ef-")); at > 0 {
		return name[:at]
	}
	return ""
}
