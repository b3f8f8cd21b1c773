// Command controlplane is etcd, kube-apiserver and kube-controller-manager in one binary. Which of them it is
// follows from the name that it was started by (a symbolic link), or from its first argument.
//
// Drover's tests, demo and benchmarks run on it where no prebuilt Kubernetes binaries are available.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kcm "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	program := filepath.Base(os.Args[0])
	if !known(program) && len(os.Args) > 1 {
		program = os.Args[1]
		os.Args = append([]string{program}, os.Args[2:]...)
	}
	var command *cobra.Command
	switch program {
	case "etcd":
		etcdmain.Main(os.Args)
		return
	case "kube-apiserver":
		command = apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		command = kcm.NewControllerManagerCommand()
	default:
		fmt.Fprintln(os.Stderr, "usage: controlplane etcd|kube-apiserver|kube-controller-manager [flags]")
		os.Exit(2)
	}
	os.Exit(cli.Run(command))
}

func known(program string) bool {
	return program == "etcd" || program == "kube-apiserver" || program == "kube-controller-manager"
}
