//go:build !fast

package guides

// reasons are the commands that no test here can run, by their beginning, after the page where only that one's are meant: with why.
func reasons() map[string]string {
	return map[string]string{
		"bazel ":                          "Bazel fetches from its Central Registry; .ci runs it",
		"go run ./e2e":                    "e2e/cluster and e2e/faults have tests of their own",
		"export KUBECONFIG=$(go":          "e2e/cluster has tests of its own",
		"kubectl -n longhorn-system logs": "no kubelet serves logs here",
		"kubectl -n longhorn-system get secret longhorn-grpc-tls -o jsonpath": "openssl is nothing that the tests need else",
		"docs/alerts/DroverInventoryUnknown.md: kubectl taint":                "docs/attaching.md has it, too, and there it is run",
		"docs/nodes.md: kubectl -n longhorn-system delete lhn":                "the pages after it need the node",
		"docs/disks.md: lsblk":  "the simulated devices are not on this machine",
		"docs/disks.md: wipefs": "the simulated devices are not on this machine",
		"docs/disks.md: lspci":  "the simulated devices are not on this machine",
		"charts/ui/README.md: kubectl -n longhorn-system port-forward": "it goes on until somebody ends it, and no kubelet runs here",
		"im-monitor/simulator/README.md: simulator --kubeconfig":       "the system of these tests has started it so",
		"im-monitor/conformance/README.md: go run":                     "its own test runs it",
	}
}
