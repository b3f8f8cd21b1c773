package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/world"
)

// shownNames is how many names an error lists.
const shownNames = 8

// resolve returns the one name that is given, or that begins with it. Otherwise the error lists what there is.
func resolve(w *world.World, kind, given string, names []string) (string, error) {
	switch {
	case given == "":
		return "", fmt.Errorf("the name of the %s is empty", kind)
	case slices.Contains(names, given):
		return given, nil
	}
	var matches []string
	for _, name := range names {
		if strings.HasPrefix(name, given) {
			matches = append(matches, name)
		}
	}
	plural := strings.ToLower(kind) + "s"
	switch {
	case len(matches) == 1:
		return matches[0], nil
	case len(matches) > 1:
		return "", fmt.Errorf("%s begins the names of %d %s: %s; type more of the name", given, len(matches), plural, some(matches))
	case len(names) == 0:
		return "", fmt.Errorf("no %s is called %s: namespace %s has none; check the namespace with: %s", kind, given, w.Namespace,
			w.Suggest("kubectl drover status -n {ns}", nil))
	}
	return "", fmt.Errorf("no %s in namespace %s is called %s, or begins so; there are %s; list all with: %s", kind, w.Namespace, given,
		some(names), w.Suggest("kubectl -n {ns} get {plural}.longhorn.io", world.Values{"plural": plural}))
}

// resolveComplete returns the name that is given, if there is one like it: what is written belongs to no other one that begins so.
func resolveComplete(w *world.World, kind, given string, names []string) (string, error) {
	name, err := resolve(w, kind, given, names)
	if err == nil && name != given {
		return "", fmt.Errorf("no %s in namespace %s is called %s, but %s begins so: a command that writes takes the complete name",
			kind, w.Namespace, given, name)
	}
	return name, err
}

// emptyFlag refuses flags that are given without a value, as by a variable of a shell that is not set: they would select everything.
func emptyFlag(cmd *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
			return fmt.Errorf("--%s is empty: give it a value, or leave it out", name)
		}
	}
	return nil
}

func some(names []string) string {
	if len(names) <= shownNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shownNames], ", "), len(names)-shownNames)
}

// lookup resolves a name, or how one begins, against the API server, and reports on stderr which name was completed. kind is as in the API:
// Volume.
func (f *Frame) lookup(ctx context.Context, client *cluster.Client, kind, given string, right cluster.Right) (string, error) {
	names, err := client.Names(ctx, kind, right)
	if err != nil {
		return "", err
	}
	name, err := resolve(client.World(), kind, given, names)
	f.noteCompleted(kind, given, name)
	return name, err
}

// noteCompleted reports that the answer is about another name than the one that was given: the object that was meant may be gone.
func (f *Frame) noteCompleted(kind, given, name string) {
	if name != "" && name != given {
		f.progress("There is no %s %s: this is %s, the only one that begins so.", kind, given, name)
	}
}

// lookupComplete is lookup for a command that writes: it takes the complete name alone.
func lookupComplete(ctx context.Context, client *cluster.Client, kind, given string, right cluster.Right) (string, error) {
	names, err := client.Names(ctx, kind, right)
	if err != nil {
		return "", err
	}
	return resolveComplete(client.World(), kind, given, names)
}

// resolveEither resolves the name of a volume or node: node/NAME is a node's, volume/NAME a volume's; else a volume comes first.
func (f *Frame) resolveEither(cmd *cobra.Command, client *cluster.Client, given string) (kind, name string, err error) {
	if rest, ok := strings.CutPrefix(given, "node/"); ok {
		name, err = f.lookup(cmd.Context(), client, "Node", rest, cluster.Nodes.Right)
		return "Node", name, err
	}
	if rest, ok := strings.CutPrefix(given, "volume/"); ok {
		name, err = f.lookup(cmd.Context(), client, "Volume", rest, cluster.Volumes.Right)
		return "Volume", name, err
	}
	volumes, err := client.Names(cmd.Context(), "Volume", cluster.Volumes.Right)
	if err != nil {
		return "", "", err
	}
	nodes, err := client.Names(cmd.Context(), "Node", cluster.Nodes.Right)
	if err != nil {
		return "", "", err
	}
	kind, name, err = either(client.World(), given, volumes, nodes)
	f.noteCompleted(kind, given, name)
	return kind, name, err
}

// either returns whose name is given. A complete name comes before one that only begins so, and what begins names of both kinds is neither.
func either(w *world.World, given string, volumes, nodes []string) (kind, name string, err error) {
	volume, err := resolve(w, "Volume", given, volumes)
	node, nodeErr := resolve(w, "Node", given, nodes)
	switch {
	case err == nil && (volume == given || nodeErr != nil && !begins(given, nodes)):
		return "Volume", volume, nil
	case nodeErr == nil && (node == given || err != nil && !begins(given, volumes)):
		return "Node", node, nil
	case begins(given, volumes) && begins(given, nodes):
		return "", "", fmt.Errorf("%s begins names of volumes and of nodes: write volume/%s or node/%s", given, given, given)
	case begins(given, nodes):
		return "", "", nodeErr
	case begins(given, volumes):
		return "", "", err
	}
	return "", "", fmt.Errorf("%w; nor is a node called so: %w", err, nodeErr)
}

// begins reports whether a name begins with what is given.
func begins(given string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, given) })
}

// complete returns the completion of a command whose only argument is the name of an object of one of the kinds.
func (f *Frame) complete(kinds map[string]cluster.Right) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		client, err := f.connect(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var out []string
		for kind, right := range kinds {
			names, err := client.Names(cmd.Context(), kind, right)
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			for _, name := range names {
				if strings.HasPrefix(name, typed) {
					out = append(out, name)
				}
			}
		}
		slices.Sort(out)
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlag returns the completion of a flag whose value is the name of an object.
func (f *Frame) completeFlag(kind string, right cluster.Right) cobra.CompletionFunc {
	names := f.complete(map[string]cluster.Right{kind: right})
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return names(cmd, nil, typed)
	}
}

// completeNamespaces completes -n with the namespaces that have leases of Drover.
func (f *Frame) completeNamespaces(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	*f.Kube.Namespace = ""
	client, err := f.connect(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return []string{client.Namespace}, cobra.ShellCompDirectiveNoFileComp
}
