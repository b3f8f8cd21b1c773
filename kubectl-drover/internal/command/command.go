package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/terminal"
)

// Exit codes of every command.
const (
	ExitWell     = 0
	ExitFailed   = 1
	ExitWarning  = 2
	ExitCritical = 3
)

const exitCodes = `Exit codes: 0 done, and for status and doctor: nothing waits for a person; 1 the command failed, nothing is known;
2 something waits for a person; 3 something critical does: a volume cannot be used, or a controller does not lead.`

// Command is one command: how it is called, and what the API server must allow for it.
type Command struct {
	*cobra.Command
	// Rights are those that the command uses.
	Rights []cluster.Right
	// Under are the commands below it.
	Under []Command
}

// into adds the command, and those below it, to a parent.
func (c Command) into(parent *cobra.Command) {
	if len(c.Rights) > 0 {
		c.Long = strings.TrimSpace(c.Long + "\n\n" + rightsSentences(c.Rights))
	}
	parent.AddCommand(c.Command)
	for _, under := range c.Under {
		under.into(c.Command)
	}
}

// each visits the commands and those below them, with their names from the root: "orphans delete".
func each(commands []Command, parent string, visit func(path string, c Command)) {
	for _, c := range commands {
		path := strings.TrimSpace(parent + " " + c.Name())
		visit(path, c)
		each(c.Under, path, visit)
	}
}

// Frame is what the commands share.
type Frame struct {
	// Streams are those of the process: data goes to Out, everything else to ErrOut.
	Streams genericiooptions.IOStreams
	// Kube has kubectl's own flags.
	Kube *genericclioptions.ConfigFlags
	// Output is the value of -o.
	Output string
	// Now is the clock.
	Now func() time.Time
	// Within bounds one request to a pod.
	Within func(context.Context) (context.Context, context.CancelFunc)
	// code is the exit code of a command that did not fail.
	code int
}

// NewFrame returns a frame with kubectl's flags at their defaults.
func NewFrame(streams genericiooptions.IOStreams) *Frame {
	within := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, podTimeout)
	}
	return &Frame{Streams: streams, Kube: genericclioptions.NewConfigFlags(false), Now: time.Now, Within: within}
}

// Commands returns all commands, in the order of the help.
func (f *Frame) Commands() []Command {
	return []Command{
		f.status(), f.why(), f.tree(), f.doctor(),
		f.attach(), f.detach(),
		f.orphans(), f.snapshots(),
		f.upgrade(),
		f.report(),
	}
}

// Root returns the command kubectl drover with all its commands.
func (f *Frame) Root(version string) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-drover",
		Short: "Show what Drover's controllers know, decide and wait for",
		Long: `kubectl drover shows a Drover installation from its objects alone: it asks the API server, no controller and no data plane.

The namespace is that of -n; without it, the one with leases of Drover's controllers. Commands that only read accept a unique
prefix of a name, those that write the complete name. All of kubectl's flags for connections are accepted: kubectl options lists them.

` + exitCodes,
		Version:       strings.TrimSpace(version),
		SilenceUsage:  true,
		SilenceErrors: true,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl drover"},
	}
	f.Kube.AddFlags(root.PersistentFlags())
	hideConnectionFlags(root.PersistentFlags())
	root.PersistentFlags().StringVarP(&f.Output, "output", "o", "", "json, yaml or name instead of a text for people")
	_ = root.RegisterFlagCompletionFunc("output",
		cobra.FixedCompletions([]string{outputJSON, outputYAML, outputName}, cobra.ShellCompDirectiveNoFileComp))
	_ = root.RegisterFlagCompletionFunc("namespace", f.completeNamespaces)
	for _, command := range f.Commands() {
		command.into(root)
	}
	root.SetIn(f.Streams.In)
	root.SetOut(f.Streams.Out)
	root.SetErr(f.Streams.ErrOut)
	return root
}

// shownFlags are kubectl's flags that the help lists; it takes the others as well.
var shownFlags = []string{"namespace", "context", "kubeconfig"}

func hideConnectionFlags(flags *pflag.FlagSet) {
	flags.VisitAll(func(flag *pflag.Flag) { flag.Hidden = !slices.Contains(shownFlags, flag.Name) })
	flags.Lookup("namespace").Usage = "namespace with Drover in it; without it the one that has leases of its controllers"
}

// Run runs one command line and returns its exit code. Errors go to ErrOut.
func Run(ctx context.Context, version string, streams genericiooptions.IOStreams, args []string) int {
	frame := NewFrame(streams)
	return frame.Run(ctx, version, args)
}

// Run is the same with a frame that the caller made.
func (f *Frame) Run(ctx context.Context, version string, args []string) int {
	root := f.Root(version)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return f.code
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	_, _ = fmt.Fprintf(f.Streams.ErrOut, "error: %s\n", terminal.CleanLines(err.Error()))
	return ExitFailed
}
