package csisnapshot

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/volumesnapshot"
)

// What is read of a content is all that is decided on: a fact that is read of another field deletes data, or keeps it for ever.
func TestWhichFactsAContentHas(t *testing.T) {
	object := func(change func(*volumesnapshot.Content)) *volumesnapshot.Content {
		c := &volumesnapshot.Content{ObjectMeta: metav1.ObjectMeta{Name: "content"}}
		c.Spec.Driver, c.Spec.VolumeSnapshotClassName = volumesnapshot.Driver, "class"
		change(c)
		return c
	}
	base := Content{Name: "content", Driver: volumesnapshot.Driver, ClassName: "class"}
	for sentence, c := range map[string]struct {
		change func(*volumesnapshot.Content)
		want   func(*Content)
	}{
		"nothing else": {func(*volumesnapshot.Content) {}, func(*Content) {}},
		"a volume to take of": {func(c *volumesnapshot.Content) { c.Spec.Source.VolumeHandle = "v" },
			func(c *Content) { c.VolumeHandle = "v" }},
		"what is there already": {func(c *volumesnapshot.Content) { c.Spec.Source.SnapshotHandle = "s" },
			func(c *Content) { c.SnapshotHandle = "s" }},
		"its VolumeSnapshot": {func(c *volumesnapshot.Content) { c.Spec.VolumeSnapshotRef.UID = "u" },
			func(c *Content) { c.SnapshotUID = "u" }},
		"that it takes its data along": {func(c *volumesnapshot.Content) { c.Spec.DeletionPolicy = "Delete" },
			func(c *Content) { c.Deletes = true }},
		"that it leaves its data":      {func(c *volumesnapshot.Content) { c.Spec.DeletionPolicy = "Retain" }, func(*Content) {}},
		"a policy of the next version": {func(c *volumesnapshot.Content) { c.Spec.DeletionPolicy = "DeleteSome" }, func(*Content) {}},
		"that it is deleted": {func(c *volumesnapshot.Content) { c.DeletionTimestamp = &metav1.Time{} },
			func(c *Content) { c.Deleting = true }},
		"the finalizer among others": {func(c *volumesnapshot.Content) { c.Finalizers = []string{"a", Finalizer, "b"} },
			func(c *Content) { c.HasFinalizer = true }},
		"finalizers of others":           {func(c *volumesnapshot.Content) { c.Finalizers = []string{"a"} }, func(*Content) {}},
		"our mark":                       {annotated(BeingCreated), func(c *Content) { c.BeingCreated = true }},
		"that its VolumeSnapshot goes":   {annotated(BeingDeleted), func(c *Content) { c.BeingDeleted = true }},
		"that it is a member of a group": {annotated(groupMember), func(c *Content) { c.Member = true }},
		"what it reports": {func(c *volumesnapshot.Content) {
			c.Status = &volumesnapshot.ContentStatus{SnapshotHandle: "s", ReadyToUse: true, CreationTime: 1, RestoreSize: 2}
		}, func(c *Content) { c.Status = Status{Handle: "s", Ready: true, CreationTime: 1, RestoreSize: 2} }},
		"what is wrong with it": {func(c *volumesnapshot.Content) {
			c.Status = &volumesnapshot.ContentStatus{Error: &volumesnapshot.ContentError{Message: "no space"}}
		}, func(c *Content) { c.Status = Status{Error: "no space"} }},
	} {
		t.Run(sentence, func(t *testing.T) {
			want := base
			c.want(&want)
			require.Equal(t, want, FromContent(object(c.change)))
		})
	}
}

func annotated(name string) func(*volumesnapshot.Content) {
	return func(c *volumesnapshot.Content) { c.Annotations = map[string]string{name: "yes"} }
}

func TestWhichFactsAClassHas(t *testing.T) {
	require.Equal(t, Class{Driver: "d", Type: "bak", BackupMode: "full"}, FromClass(&volumesnapshot.Class{Driver: "d",
		Parameters: map[string]string{"type": "bak", "backupMode": "full", "other": "x"}}))
	require.Equal(t, Class{Driver: "d"}, FromClass(&volumesnapshot.Class{Driver: "d"}), "without parameters it means a backup")
}
