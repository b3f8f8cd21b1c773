package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"drover.dev/drover/im-monitor/simulator/internal/control"
)

// defaultControl is where the control endpoint listens, and environment names another one to ctl.
const (
	defaultControl = "127.0.0.1:9510"
	environment    = "SIMULATOR_CONTROL"
)

// ctl is the command line of the control endpoint.
type ctl struct {
	url string
	out io.Writer
}

// ctlCommand is `simulator ctl`.
func ctlCommand() *cobra.Command {
	c := &ctl{url: "http://" + defaultControl}
	if u := os.Getenv(environment); u != "" {
		c.url = u
	}
	cmd := &cobra.Command{
		Use:               "ctl",
		Short:             "Query and control a running simulator: its objects, its journal, its faults",
		Long:              "Answers are JSON. The endpoint is set by --control or " + environment + ".",
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { c.out = cmd.OutOrStdout(); return nil },
	}
	cmd.PersistentFlags().StringVar(&c.url, "control", c.url, "URL of the control endpoint, or its HOST:PORT")
	cmd.AddCommand(c.status(), c.nodes(), c.pods(), c.instances(), c.held(), c.journal(), c.faults(), c.restart(), c.crash(), c.disks(),
		c.devices(),
		c.volumes(), c.writers(), c.copyTime())
	return cmd
}

// ask sends a request and prints the answer.
func (c *ctl) ask(cmd *cobra.Command, method, path string, query url.Values, in any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var answer json.RawMessage
	client := &control.Client{URL: c.url}
	if err := client.Do(cmd.Context(), method, path, in, &answer); err != nil {
		return err
	}
	if len(answer) == 0 || string(answer) == "{}\n" || string(answer) == "{}" {
		return nil
	}
	var value any
	if err := json.Unmarshal(answer, &value); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return c.print(value)
}

func (c *ctl) print(value any) error {
	encoder := json.NewEncoder(c.out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// set keeps the query's values that are not empty.
func set(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}

func (c *ctl) status() *cobra.Command {
	return &cobra.Command{Use: "status", Short: "Mode, addresses, counts", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.ask(cmd, http.MethodGet, "/v1/status", nil, nil) }}
}

func (c *ctl) pods() *cobra.Command {
	return &cobra.Command{Use: "pods", Short: "Pods with their nodes and addresses", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.ask(cmd, http.MethodGet, "/v1/pods", nil, nil) }}
}

func (c *ctl) held() *cobra.Command {
	var node string
	cmd := &cobra.Command{Use: "held", Short: "What nodes hold without any server: lvols, replica directories, devices", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd, http.MethodGet, "/v1/held", set("node", node), nil)
		}}
	cmd.Flags().StringVar(&node, "node", "", "this node only")
	return cmd
}

func (c *ctl) journal() *cobra.Command {
	var after, wait, source, node, name, method string
	cmd := &cobra.Command{Use: "journal", Short: "Every executed call, with the UUIDs asked and found, and what became of it",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd, http.MethodGet, "/v1/journal",
				set("after", after, "wait", wait, "source", source, "node", node, "name", name, "method", method), nil)
		}}
	cmd.Flags().StringVar(&after, "after", "", "only entries after this serial number")
	cmd.Flags().StringVar(&wait, "wait", "", "wait so long for an entry when there is none")
	cmd.Flags().StringVar(&source, "source", "", "wire or control; empty means both")
	cmd.Flags().StringVar(&node, "node", "", "this node only")
	cmd.Flags().StringVar(&name, "name", "", "this instance only")
	cmd.Flags().StringVar(&method, "method", "", "this method only")
	return cmd
}
