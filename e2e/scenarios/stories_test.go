package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStories tells each Story once, undisturbed: O1, O6, O8, O9, O10, O12, O13. [ORP-1, ORP-2, ORP-3, ORP-4]
func TestStories(t *testing.T) {
	for _, story := range Stories() {
		t.Run(story.ID+" "+story.Sentence, func(t *testing.T) {
			ctx, scene := stage(t)
			_, err := story.Tell(ctx, scene.World, nil)
			require.NoError(t, err)
		})
	}
}
