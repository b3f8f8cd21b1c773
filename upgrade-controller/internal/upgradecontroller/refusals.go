package upgradecontroller

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/upgrade-controller/internal/plan"
)

// refusals are the pods that check an image and that the API server refused to create: the sentence of the API server by the UID of the
// upgrade and by node. They are in memory only, because a new leader tries again. One worker reads and writes them.
type refusals map[types.UID]map[string]string

// record remembers how the creation of the pod of a node ended: a refusal stays until the pod can be created.
func (r refusals) record(upgrade types.UID, node string, err error) {
	if err == nil {
		delete(r[upgrade], node)
		return
	}
	if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		return
	}
	if r[upgrade] == nil {
		r[upgrade] = map[string]string{}
	}
	r[upgrade][node] = err.Error()
}

func (r refusals) forget(upgrade types.UID) { delete(r, upgrade) }

// add reports the refusals as what is known of the image. What a pod or an instance manager of the node shows counts more.
func (r refusals) add(w *plan.World) {
	for node, sentence := range r[w.Manager.UID] {
		if _, seen := w.Images[node]; !seen {
			w.Images[node] = plan.Image{Known: true, Missing: "the API server refused the pod that is to run it: " + sentence}
		}
	}
}
