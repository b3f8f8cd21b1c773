// Package events carries events as values: a decision names them, the reconciler emits them after its write succeeded.
package events

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"drover.dev/drover/shared/text"
)

// Event is one events.k8s.io/v1 event to be emitted about an object.
type Event struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning.
	Type string
	// Reason is one word from a closed list; Action is what the controller was doing.
	Reason, Action string
	// Note is a full sentence for people. A note over the API's limit of 1 kB is cut.
	Note string
}

const noteLimit = 1024

// Emit emits each event about the object.
func Emit(recorder events.EventRecorder, regarding runtime.Object, list ...Event) {
	for _, e := range list {
		recorder.Eventf(regarding, nil, e.Type, e.Reason, e.Action, "%s", text.Truncate(e.Note, noteLimit))
	}
}
