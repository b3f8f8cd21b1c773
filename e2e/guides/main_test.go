//go:build !fast

package guides

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	jq "github.com/itchyny/gojq/cli"
	helm "helm.sh/helm/v4/pkg/cmd"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
)

// TestMain is kubectl, helm or jq where the program is started by that name, as the shell of the commands does; else it starts the system.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "kubectl":
		os.Exit(cli.Run(kubectl.NewDefaultKubectlCommand()))
	case "helm":
		os.Exit(runHelm())
	case "jq":
		os.Exit(jq.Run())
	}
	code, err := run(context.Background(), m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runHelm() int {
	command, err := helm.NewRootCmd(os.Stdout, os.Args[1:], helm.SetupLogging)
	if err == nil {
		err = command.Execute()
	}
	var failed helm.CommandError
	switch {
	case errors.As(err, &failed):
		return failed.ExitCode
	case err != nil:
		slog.Error("helm failed", "error", err)
		return 1
	}
	return 0
}
