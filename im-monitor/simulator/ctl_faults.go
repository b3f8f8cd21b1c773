package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"drover.dev/drover/im-monitor/simulator/internal/fault"
)

func (c *ctl) faults() *cobra.Command {
	cmd := &cobra.Command{Use: "faults", Short: "Rules by which the simulator misbehaves", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.ask(cmd, http.MethodGet, "/v1/faults", nil, nil) }}
	cmd.AddCommand(c.addFault(), c.clearFaults())
	return cmd
}

func (c *ctl) addFault() *cobra.Command {
	in := fault.Rule{}
	var delay time.Duration
	var lines []string
	for _, kind := range slices.Sorted(maps.Keys(fault.Kinds())) {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("  %-13s %s", kind, strings.Join(fault.Kinds()[kind], ", ")), " "))
	}
	cmd := &cobra.Command{Use: "add KIND", Short: "Put a fault in force; prints its ID", Args: cobra.ExactArgs(1),
		Long: "Kinds and their modes (the first is the default):\n" + strings.Join(lines, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Kind, in.Delay = fault.Kind(args[0]), fault.Duration(delay)
			return c.ask(cmd, http.MethodPost, "/v1/faults", nil, in)
		}}
	f := cmd.Flags()
	f.StringVar(&in.ID, "id", "", "ID to give it; one of the same ID is replaced")
	f.StringVar(&in.Mode, "mode", "", "mode")
	f.StringVar(&in.Node, "node", "", "nodes, may be a pattern; empty means all")
	f.StringVar(&in.Pod, "pod", "", "pods, may be a pattern; empty means all")
	f.StringVar(&in.DataEngine, "engine", "", "v1 or v2; empty means both")
	f.StringVar(&in.Method, "method", "", "methods such as InstanceDelete, may be a pattern; empty means all")
	f.StringSliceVar(&in.Names, "name", nil, "instances (partial-list, empty-uuid, fail-create, stuck-stop, garbage)")
	f.DurationVar(&delay, "delay", 0, "how long (latency, events delay)")
	f.StringVar(&in.Code, "code", "Unavailable", "gRPC code (error)")
	f.StringVar(&in.Message, "message", "", "message (error, fail-create)")
	f.BoolVar(&in.After, "after", false, "after the work was done, before the answer (error, hang, latency)")
	f.Float64Var(&in.Fraction, "fraction", 0, "share of the instances to leave out (partial-list); 0 means half")
	f.IntVar(&in.Times, "times", 0, "how many calls or notices it concerns; 0 means until cleared")
	return cmd
}

func (c *ctl) clearFaults() *cobra.Command {
	var node string
	cmd := &cobra.Command{Use: "clear [ID]", Short: "Take one fault back, those of a node, or all", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, http.MethodDelete, "/v1/faults", set("id", strings.Join(args, ""), "node", node), nil)
		}}
	cmd.Flags().StringVar(&node, "node", "", "those for this node only")
	return cmd
}
