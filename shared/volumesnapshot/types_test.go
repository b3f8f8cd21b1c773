package volumesnapshot

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var noon = metav1.NewTime(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC))

// full is a content with every field.
func full() Content {
	return Content{
		TypeMeta:   metav1.TypeMeta{APIVersion: "snapshot.storage.k8s.io/v1", Kind: "VolumeSnapshotContent"},
		ObjectMeta: metav1.ObjectMeta{Name: "content", Labels: map[string]string{"a": "b"}, Finalizers: []string{"f"}},
		Spec: ContentSpec{Driver: Driver, DeletionPolicy: "Delete", VolumeSnapshotClassName: "class",
			Source:            ContentSource{VolumeHandle: "vol", SnapshotHandle: "snap://vol/s"},
			VolumeSnapshotRef: Reference{Namespace: "default", Name: "vs", UID: "u"}},
		Status: &ContentStatus{SnapshotHandle: "snap://vol/s", CreationTime: 1, RestoreSize: 2, ReadyToUse: true,
			Error: &ContentError{Time: noon.DeepCopy(), Message: "It failed."}},
	}
}

func class() Class {
	return Class{TypeMeta: metav1.TypeMeta{Kind: "VolumeSnapshotClass"},
		ObjectMeta: metav1.ObjectMeta{Name: "class", Labels: map[string]string{"a": "b"}},
		Driver:     Driver, Parameters: map[string]string{"type": "snap"}}
}

func TestTheKindsAreKnownToASchemeUnderTheirNames(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, AddToScheme(scheme))
	for kind, want := range map[string]runtime.Object{
		"VolumeSnapshotContent": &Content{}, "VolumeSnapshotContentList": &ContentList{},
		"VolumeSnapshotClass": &Class{}, "VolumeSnapshotClassList": &ClassList{},
	} {
		object, err := scheme.New(schema.GroupVersionKind{Group: "snapshot.storage.k8s.io", Version: "v1", Kind: kind})
		require.NoError(t, err)
		require.IsType(t, want, object)
	}
	require.True(t, scheme.Recognizes(GroupVersion.WithKind("WatchEvent")), "without it nothing of the group can be watched")
}

func TestAContentIsReadByTheNamesOfItsSchema(t *testing.T) {
	var c Content
	require.NoError(t, json.Unmarshal([]byte(`{"apiVersion":"snapshot.storage.k8s.io/v1","kind":"VolumeSnapshotContent",
		"metadata":{"name":"content","labels":{"a":"b"},"finalizers":["f"]},
		"spec":{"driver":"driver.longhorn.io","deletionPolicy":"Delete","volumeSnapshotClassName":"class","sourceVolumeMode":"Block",
			"source":{"volumeHandle":"vol","snapshotHandle":"snap://vol/s"},
			"volumeSnapshotRef":{"kind":"VolumeSnapshot","namespace":"default","name":"vs","uid":"u"}},
		"status":{"snapshotHandle":"snap://vol/s","creationTime":1,"restoreSize":2,"readyToUse":true,
			"error":{"time":"2026-08-01T12:00:00Z","message":"It failed."}}}`), &c))
	require.True(t, c.Status.Error.Time.Equal(&noon))
	c.Status.Error.Time = noon.DeepCopy()
	require.Equal(t, full(), c)
	text, err := json.Marshal(&Content{})
	require.NoError(t, err)
	require.NotContains(t, string(text), `"status"`, "the driver's side did not write one yet")
}

func TestAClassIsReadByTheNamesOfItsSchema(t *testing.T) {
	var c Class
	require.NoError(t, json.Unmarshal([]byte(`{"kind":"VolumeSnapshotClass","metadata":{"name":"class","labels":{"a":"b"}},
		"driver":"driver.longhorn.io","parameters":{"type":"snap"},"deletionPolicy":"Delete"}`), &c))
	require.Equal(t, class(), c)
}

// spoil changes everything that a copy could share.
func spoil(c *Content) {
	c.Labels["a"], c.Finalizers[0], c.Spec.Driver = "changed", "changed", "changed"
	if c.Status != nil {
		c.Status.SnapshotHandle = "changed"
		if c.Status.Error != nil {
			c.Status.Error.Message = "changed"
			if c.Status.Error.Time != nil {
				*c.Status.Error.Time = metav1.Time{}
			}
		}
	}
}

// A copy is what one may change; the original belongs to the cache.
func TestACopyOfAContentSharesNothing(t *testing.T) {
	for sentence, change := range map[string]func(*Content){
		"with every field":              func(*Content) {},
		"without a status":              func(c *Content) { c.Status = nil },
		"without an error":              func(c *Content) { c.Status.Error = nil },
		"with an error of unknown time": func(c *Content) { c.Status.Error.Time = nil },
	} {
		t.Run(sentence, func(t *testing.T) {
			original, want := full(), full()
			change(&original)
			change(&want)
			copied := original.DeepCopyObject().(*Content)
			require.Equal(t, want, *copied)
			spoil(copied)
			require.Equal(t, want, original)
		})
	}
}

func TestACopyOfAClassSharesNothing(t *testing.T) {
	original := class()
	copied := original.DeepCopyObject().(*Class)
	require.Equal(t, class(), *copied)
	copied.Labels["a"], copied.Parameters["type"] = "changed", "changed"
	require.Equal(t, class(), original)
}

func TestACopyOfAListSharesNothing(t *testing.T) {
	remaining := int64(1)
	meta := func() metav1.ListMeta { return metav1.ListMeta{ResourceVersion: "7", RemainingItemCount: &remaining} }
	contents := ContentList{TypeMeta: metav1.TypeMeta{Kind: "VolumeSnapshotContentList"}, ListMeta: meta(), Items: []Content{full(), full()}}
	copied := contents.DeepCopyObject().(*ContentList)
	require.Equal(t, contents, *copied)
	*copied.RemainingItemCount = 2
	spoil(&copied.Items[0])
	spoil(&copied.Items[1])
	require.Equal(t, []Content{full(), full()}, contents.Items)

	classes := ClassList{TypeMeta: metav1.TypeMeta{Kind: "VolumeSnapshotClassList"}, ListMeta: meta(), Items: []Class{class(), class()}}
	others := classes.DeepCopyObject().(*ClassList)
	require.Equal(t, classes, *others)
	*others.RemainingItemCount = 3
	others.Items[1].Parameters["type"] = "changed"
	require.Equal(t, []Class{class(), class()}, classes.Items)
	require.EqualValues(t, 1, remaining)

	require.Nil(t, (&ContentList{}).DeepCopyObject().(*ContentList).Items, "a list of nothing stays one")
	require.Nil(t, (&ClassList{}).DeepCopyObject().(*ClassList).Items)
}
