package v1beta2

import (
	"fmt"
	"strings"
	"time"
)

// AnnotationDeleteByHand is a person's word on an Orphan that a policy deleted: it ends as if a person had deleted it, where the policy
// holds back. Its value is the UID of the Orphan, so that it is about exactly this one, and cannot be part of its creation.
const AnnotationDeleteByHand = "drover.dev/delete-by-hand"

// DeletedByHand reports whether a person gave that word for exactly this Orphan. Alone it deletes nothing.
func DeletedByHand(o *Orphan) bool {
	return o.UID != "" && o.Annotations[AnnotationDeleteByHand] == string(o.UID)
}

// DeleteByHandCommand is the command with which a person gives it.
func DeleteByHandCommand(o *Orphan) string {
	return fmt.Sprintf("kubectl -n %s annotate orphans.longhorn.io %s %s=%s", o.Namespace, o.Name, AnnotationDeleteByHand, o.UID)
}

// With these annotations a person records that the instance, or the data, of an Orphan is given up: policy may then delete it, as it may
// after a record of attach-controller. AnnotationGivenUp has the UID of the Orphan, so that the record counts for no later Orphan, not even
// of the same instance. AnnotationGivenUpBy has the person, a space, and the time of the record, at which the grace period begins.
const (
	AnnotationGivenUp   = "drover.dev/given-up"
	AnnotationGivenUpBy = "drover.dev/given-up-by"
)

// GivenUp reports whether a person recorded that exactly this Orphan is given up, and when. Alone it deletes nothing.
func GivenUp(o *Orphan) bool {
	return o.UID != "" && o.Annotations[AnnotationGivenUp] == string(o.UID) && !GivenUpAt(o).IsZero()
}

// GivenUpAt returns when a person recorded that an Orphan is given up; zero if the record has no time that can be read.
func GivenUpAt(o *Orphan) time.Time {
	by := o.Annotations[AnnotationGivenUpBy]
	at, err := time.Parse(time.RFC3339, by[strings.LastIndex(by, " ")+1:])
	if err != nil {
		return time.Time{}
	}
	return at
}
