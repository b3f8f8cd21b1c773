// Package stories is the list of all scenarios that may be cut anywhere, whoever plays them.
package stories

import (
	"slices"

	"drover.dev/drover/e2e/attach"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/snapshot"
	"drover.dev/drover/e2e/upgrade"
)

// Of are the Stories of one cast, in their order.
func Of(cast scenarios.Cast) []scenarios.Story {
	all := slices.Concat(scenarios.Stories(), attach.Stories(), snapshot.Stories(), upgrade.Stories())
	return slices.DeleteFunc(all, func(s scenarios.Story) bool { return s.Cast != cast })
}
