package enginesnapshot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestWhatASnapshotAllowsRightBeforeACall(t *testing.T) {
	requested, deleted := Snapshot{Create: true, Requested: time.Unix(1, 0)}, Snapshot{Deleting: true, Approved: true}
	for _, c := range []struct {
		name         string
		of           Snapshot
		change       func(*Snapshot)
		take, remove bool
	}{
		{"one that is requested", requested, func(*Snapshot) {}, true, false},
		{"one whose request is not approved", requested, func(s *Snapshot) { s.Requested = time.Time{} }, false, false},
		{"one that no one requests", requested, func(s *Snapshot) { s.Create = false }, false, false},
		{"one that is deleted meanwhile", requested, func(s *Snapshot) { s.Deleting = true }, false, false},
		{"one whose removal is approved", deleted, func(*Snapshot) {}, false, true},
		{"one whose approval was taken back", deleted, func(s *Snapshot) { s.Approved = false }, false, false},
		{"one that is not deleted", deleted, func(s *Snapshot) { s.Deleting = false }, false, false},
		{"one that was withdrawn", deleted, func(s *Snapshot) { s.Withdrawn = &v1beta2.Condition{} }, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.change(&c.of)
			require.Equal(t, c.take, MayTake(c.of))
			require.Equal(t, c.remove, MayRemove(c.of))
		})
	}
}
