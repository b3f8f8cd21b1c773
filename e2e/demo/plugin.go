package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"drover.dev/drover/e2e/world"
)

// plugin runs a command of kubectl drover on the demo's control plane, and shows what it prints. Exit codes above 1 are its findings.
func (d *demo) plugin(ctx context.Context, arguments ...string) error {
	kubeconfig, err := d.world.AdminKubeconfig()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, filepath.Join(d.world.Dir, world.Plugin), append(arguments, "--kubeconfig", kubeconfig)...)
	out, err := command.Output()
	var exited *exec.ExitError
	switch {
	case errors.As(err, &exited) && exited.ExitCode() > 1:
	case errors.As(err, &exited):
		return fmt.Errorf("kubectl drover %s: %w: %s", strings.Join(arguments, " "), err, exited.Stderr)
	case err != nil:
		return fmt.Errorf("kubectl drover %s: %w", strings.Join(arguments, " "), err)
	}
	d.scenario.show("kubectl drover "+strings.Join(arguments, " "), string(out))
	return nil
}
