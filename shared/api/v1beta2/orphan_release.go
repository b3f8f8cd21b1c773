package v1beta2

import "fmt"

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
