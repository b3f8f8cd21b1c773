// The api-gateway answers Longhorn's REST API from custom resources, for the CSI plugin and the web interface. It decides no policy
// and calls no data plane. Any number of its processes answer at once.
package main

import (
	"context"
	_ "embed"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/api-gateway/internal/gateway"
	"drover.dev/drover/shared/runkit"
)

//go:embed VERSION
var version string

func main() {
	options := gateway.DefaultOptions()
	runkit.Main(runkit.Program{
		Name:    "api-gateway",
		Version: version,
		Short:   "Answers Longhorn's REST API from custom resources",
		Long: "api-gateway answers the REST API of Longhorn, which the CSI plugin and the web interface speak, from custom resources: it reads " +
			"them from caches, and writes them as a person would. All of its processes answer at once; none leads.",
		Flags:     func(flags *pflag.FlagSet) { options.AddFlags(flags) },
		Contracts: []string{"1"},
		Stateless: true,
		// Nearly all of the heap is the cache, and an answer leaves little behind: it is joined from pieces that are kept.
		GCPercent: 10,
		Cache:     gateway.Cached(),
		Setup: func(ctx context.Context, rt *runkit.Runtime) error {
			return gateway.Setup(ctx, rt, options, metrics.Registry)
		},
	})
}
