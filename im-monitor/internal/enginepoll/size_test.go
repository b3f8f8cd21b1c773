package enginepoll_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

const (
	engineImage = "longhornio/longhorn-engine:v1.12.0"
	luksHeader  = 16 << 20
)

// encrypted is a world whose volume is encrypted and whose engine serves what its replicas hold.
func encrypted(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, quick)
	w.volume(v1beta2.VolumeSpec{Size: gib, Encrypted: true}, nil)
	w.server.do(func() { w.server.size = gib + luksHeader })
	w.status(&v1beta2.Engine{ObjectMeta: w.meta(name)}, map[string]any{"currentImage": engineImage})
	return w
}

func (w *world) image(cli int) {
	w.t.Helper()
	i := &v1beta2.EngineImage{ObjectMeta: w.meta(v1beta2.EngineImageName(engineImage)), Spec: v1beta2.EngineImageSpec{Image: engineImage}}
	w.create(i)
	w.status(i, map[string]any{"cliAPIVersion": cli})
}

// What the user gets is 16 MiB smaller than what the engine serves, and what the engine is asked for is 16 MiB larger than what the user
// gets.
func TestAnEncryptedVolumeGrowsByWhatItsUserAsksFor(t *testing.T) {
	w := encrypted(t)
	w.image(12)
	w.start()
	w.until("no size", func(e *v1beta2.Engine) bool { return e.Status.CurrentSize == gib })
	require.Empty(t, w.server.changes())
	w.spec(map[string]any{"volumeSize": "2147483648"})
	w.until("it never grew", func(e *v1beta2.Engine) bool { return e.Status.CurrentSize == 2*gib })
	w.server.do(func() { require.EqualValues(t, 2*gib+luksHeader, w.server.size) })
	require.Equal(t, []string{"VolumeExpand"}, w.server.changes())
}

// The same number means another size with another image: no one guesses.
func TestASizeIsNotToldBeforeTheImageOfAnEncryptedVolumeIsKnown(t *testing.T) {
	w := encrypted(t)
	w.start()
	w.spec(map[string]any{"volumeSize": "2147483648"})
	w.polls(3)
	require.Zero(t, w.get().Status.CurrentSize)
	require.Empty(t, w.server.changes(), "nothing is asked for that has a size")
	w.image(12)
	w.until("it never grew", func(e *v1beta2.Engine) bool { return e.Status.CurrentSize == 2*gib })
}
