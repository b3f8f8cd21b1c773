package runkit

import (
	"context"
	"fmt"
	"io"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/takeover"
)

// checkTakeOver lists what blocks taking over an installation, and what the installation loses, with the rights of the kubeconfig; an error
// if anything blocks it.
func checkTakeOver(ctx context.Context, o options, program string, out io.Writer) error {
	config, err := o.restConfig(program)
	if err != nil {
		return err
	}
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return fmt.Errorf("building the scheme: %w", err)
	}
	reader, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("building the client: %w", err)
	}
	found, unread := takeover.Read(ctx, reader, o.namespace)
	obstacles := takeover.Obstacles(found)
	for i, obstacle := range obstacles {
		fmt.Fprintf(out, "%2d. %s: %s.\n    %s\n", i+1, obstacle.Object, obstacle.Why, obstacle.Do)
	}
	losses := takeover.Losses(found)
	if len(losses) > 0 {
		fmt.Fprintf(out, "Once longhorn-manager has ended, this is lost, or waits for a person:\n")
	}
	for _, l := range losses {
		fmt.Fprintf(out, "  - %s: %s.\n    %s\n", l.Object, l.What, l.Do)
	}
	switch {
	case unread != nil:
		return fmt.Errorf("not everything could be checked, run it as an administrator: %w", unread)
	case len(obstacles) > 0:
		return fmt.Errorf("%d things stand against taking over namespace %s; deal with them in this order, and check again", len(obstacles),
			o.namespace)
	}
	fmt.Fprintf(out, "Nothing stands against taking over namespace %s.\n", o.namespace)
	return nil
}
