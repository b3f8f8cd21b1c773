package command

import (
	"fmt"

	"github.com/spf13/cobra"
)

// one is the rule of a command that takes one argument, which is called what.
func one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return fmt.Errorf("%s takes one %s, and was given %d; see: %s --help", cmd.Name(), what, len(args), cmd.CommandPath())
	}
}
