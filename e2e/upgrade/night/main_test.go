package night

import (
	"testing"

	"drover.dev/drover/e2e/upgrade/stage"
)

func TestMain(m *testing.M) { stage.Main(m) }
