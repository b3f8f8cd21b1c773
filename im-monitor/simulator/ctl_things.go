package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

func (c *ctl) nodes() *cobra.Command {
	cmd := &cobra.Command{Use: "nodes", Short: "Nodes with their states and v2 disks", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.ask(cmd, http.MethodGet, "/v1/nodes", nil, nil) }}
	add := control.AddNodes{}
	adding := &cobra.Command{Use: "add [NAME...]", Short: "Make nodes by name, or --count of them by prefix",
		RunE: func(cmd *cobra.Command, args []string) error {
			add.Names = args
			return c.ask(cmd, http.MethodPost, "/v1/nodes", nil, add)
		}}
	adding.Flags().IntVar(&add.Count, "count", 0, "how many")
	adding.Flags().StringVar(&add.Prefix, "prefix", "node-", "prefix of their names")
	cmd.AddCommand(adding,
		c.nodeState("cut NAME", "Cut a node off: its instances run on, nothing reaches it, it is silent", machine.Cut),
		c.nodeState("kill NAME", "Kill a node: its processes are gone, its disks stay", machine.Dead),
		c.nodeState("back NAME", "Bring a node back that was partitioned or killed", machine.Up),
		&cobra.Command{Use: "remove NAME", Short: "Kill a node and delete its Kubernetes Node", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return c.ask(cmd, http.MethodDelete, "/v1/nodes/"+url.PathEscape(args[0]), nil, nil)
			}})
	return cmd
}

func (c *ctl) nodeState(use, short string, state machine.NodeState) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		return c.ask(cmd, http.MethodPost, "/v1/nodes/"+url.PathEscape(args[0])+"/state", nil, control.SetNode{State: state})
	}}
}

func (c *ctl) instances() *cobra.Command {
	var node, engine, name string
	cmd := &cobra.Command{Use: "instances", Aliases: []string{"list"},
		Short: "Instances with their true UUIDs and what the server reports about them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd, http.MethodGet, "/v1/instances", set("node", node, "engine", engine, "name", name), nil)
		}}
	cmd.Flags().StringVar(&node, "node", "", "this node only")
	cmd.Flags().StringVar(&engine, "engine", "", "v1 or v2 only")
	cmd.Flags().StringVar(&name, "name", "", "this instance only")
	cmd.AddCommand(c.create(), c.populate(), c.change(), c.kill(), c.remove())
	return cmd
}

func (c *ctl) create() *cobra.Command {
	in := control.Put{}
	cmd := &cobra.Command{Use: "create NODE NAME", Short: "Make an instance as if someone had started it before", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Node, in.Name = args[0], args[1]
			return c.ask(cmd, http.MethodPost, "/v1/instances", nil, control.PutRequest{Instances: []control.Put{in}})
		}}
	f := cmd.Flags()
	f.StringVar(&in.Type, "type", dataplane.TypeReplica, "engine, replica or engine-frontend")
	f.StringVar(&in.DataEngine, "engine", dataplane.V1, "v1 or v2")
	f.StringVar(&in.Volume, "volume", "", "volume name")
	f.StringVar(&in.State, "state", dataplane.Running, "state")
	f.StringVar(&in.UUID, "uuid", "", "UUID; empty draws one")
	f.StringVar(&in.DiskName, "disk", "", "v2 disk of a replica; empty means disk-1")
	f.Uint64Var(&in.Size, "size", 0, "bytes")
	f.StringToStringVar(&in.Replicas, "replica", nil, "a v2 engine's replica, NAME=IP:PORT (repeatable)")
	f.StringVar(&in.Frontend, "frontend", "", "frontend")
	f.StringVar(&in.EngineName, "target-engine", "", "engine of a v2 frontend")
	f.StringVar(&in.TargetAddress, "target-address", "", "where that engine listens, IP:PORT")
	return cmd
}

func (c *ctl) populate() *cobra.Command {
	return &cobra.Command{Use: "populate FILE", Short: "Make many instances from a JSON list (- is standard input): [{node, name, type, " +
		"dataEngine, state, uuid, …}]",
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			file := os.Stdin
			if args[0] != "-" {
				opened, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("opening the list: %w", err)
				}
				defer func() { _ = opened.Close() }()
				file = opened
			}
			in := control.PutRequest{CountOnly: true}
			if err := json.NewDecoder(file).Decode(&in.Instances); err != nil {
				return fmt.Errorf("reading the list: %w", err)
			}
			return c.ask(cmd, http.MethodPost, "/v1/instances", nil, in)
		}}
}

func (c *ctl) change() *cobra.Command {
	var state, message string
	in := dataplane.Change{}
	var hide, show bool
	cmd := &cobra.Command{Use: "change NODE NAME",
		Short: "Change an instance: another state, a new UUID under the same name, a hidden UUID", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if state != "" {
				in.State = &state
			}
			if cmd.Flags().Changed("error") {
				in.ErrorMsg = &message
			}
			if hide || show {
				in.HideUUID = &hide
			}
			return c.ask(cmd, http.MethodPatch, "/v1/instances/"+url.PathEscape(args[0])+"/"+url.PathEscape(args[1]), nil, in)
		}}
	f := cmd.Flags()
	f.StringVar(&state, "state", "", "new state")
	f.StringVar(&message, "error", "", "new error message")
	f.StringVar(&in.UUID, "uuid", "", "another UUID, as after a restart under the same name; new draws one")
	f.BoolVar(&hide, "hide-uuid", false, "have the server leave the UUID empty")
	f.BoolVar(&show, "show-uuid", false, "have the server report the UUID again")
	f.BoolVar(&in.Silent, "silent", false, "send no notice")
	cmd.MarkFlagsMutuallyExclusive("hide-uuid", "show-uuid")
	return cmd
}

func (c *ctl) remove() *cobra.Command {
	var destroy bool
	cmd := &cobra.Command{Use: "remove NODE NAME", Short: "End an instance from outside; a v2 replica stays as stopped unless --destroy",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			query := url.Values{}
			if destroy {
				query.Set("destroy", "true")
			}
			return c.ask(cmd, http.MethodDelete, "/v1/instances/"+url.PathEscape(args[0])+"/"+url.PathEscape(args[1]), query, nil)
		}}
	cmd.Flags().BoolVar(&destroy, "destroy", false, "destroy a v2 replica's data, too")
	return cmd
}

func (c *ctl) restart() *cobra.Command {
	var keep bool
	var down time.Duration
	cmd := &cobra.Command{Use: "restart POD|NODE:ENGINE", Short: "Restart an instance manager's container; v1 processes die, v2 lvols stay",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, http.MethodPost, "/v1/pods/"+url.PathEscape(args[0])+"/restart", nil,
				control.Restart{Keep: keep, Down: fault.Duration(down)})
		}}
	cmd.Flags().BoolVar(&keep, "keep", false, "v1 processes survive, which no real server manages")
	cmd.Flags().DurationVar(&down, "down", 0, "how long the container is down")
	return cmd
}

func (c *ctl) crash() *cobra.Command {
	return &cobra.Command{Use: "crash POD|NODE:ENGINE", Short: "End an instance manager's pod: phase Failed, for restart policy is Never",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, http.MethodPost, "/v1/pods/"+url.PathEscape(args[0])+"/crash", nil, nil)
		}}
}
