//go:build !fast

package preconditions

import (
	"testing"

	"drover.dev/drover/e2e/upgrade/fixture"
)

func TestMain(m *testing.M) { fixture.Main(m) }
