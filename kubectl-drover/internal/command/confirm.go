package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"drover.dev/drover/kubectl-drover/internal/terminal"
)

// errDeclined ends a command whose question was not answered with yes. Nothing was written.
var errDeclined = errors.New("not confirmed: nothing was changed")

// consent are the flags of a command that deletes.
type consent struct{ yes, dryRun bool }

func (c *consent) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "show what would be done, and do nothing")
}

// preview shows a report on ErrOut, and asks; on nil the person agreed, or --yes did. Without a terminal only --yes agrees.
func (f *Frame) preview(ctx context.Context, c consent, report Report, question string) error {
	printer := terminal.New(f.Streams.ErrOut)
	report.Text(printer)
	if c.yes {
		return printer.Err()
	}
	if !terminal.IsTerminal(f.Streams.In) {
		return errors.New("this is not confirmed, and stdin is no terminal to ask on: repeat with --yes, or --dry-run to see it only")
	}
	if _, err := fmt.Fprintf(f.Streams.ErrOut, "\n%s [y/N] ", terminal.Clean(question)); err != nil {
		return err
	}
	answers := make(chan string, 1)
	go func() { // ends with the process where the question is interrupted
		answer, _ := bufio.NewReader(f.Streams.In).ReadString('\n')
		answers <- strings.ToLower(strings.TrimSpace(answer))
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case answer := <-answers:
		if answer == "y" || answer == "yes" {
			return nil
		}
		return errDeclined
	}
}

// plural returns "1 orphan" or "2 orphans".
func plural(count int, what string) string {
	if count == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", count, what)
}
