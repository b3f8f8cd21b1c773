package enginesnapshot

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Wish is the request of a Snapshot to its engine.
type Wish struct {
	Kind string
	// Since is when the request was approved, where it may be approved again.
	Since time.Time
}

// Nothing is no request.
var Nothing = Wish{}

// WishOf returns the request of a Snapshot; it changes only when a poll is due because of it.
func WishOf(s Snapshot) Wish {
	provisioned := is(s.Provisioned, v1beta2.ConditionTrue)
	switch {
	case is(s.Withdrawn, v1beta2.ConditionTrue):
		return Nothing
	case s.Deleting && s.Approved && !FailedSince(s):
		return Wish{Kind: "remove"}
	case !s.Create || s.Requested.IsZero() || provisioned || s.Seen:
		return Nothing
	case s.Deleting && (s.Provisioned == nil || s.Provisioned.Reason != v1beta2.ReasonCancelled):
		return Wish{Kind: "cancel"}
	case s.Deleting:
		return Nothing
	}
	return Wish{Kind: "take", Since: s.Requested}
}
