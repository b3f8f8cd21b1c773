//go:build !fast

package failures

import (
	"testing"

	"drover.dev/drover/e2e/upgrade/fixture"
)

func TestMain(m *testing.M) { fixture.Main(m) }
