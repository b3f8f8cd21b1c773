package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
)

func (c *ctl) volumes() *cobra.Command {
	cmd := &cobra.Command{Use: "volumes [NAME]", Short: "Volumes: engines with their replicas' modes, frontends, the data of every replica",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return c.ask(cmd, http.MethodGet, "/v1/volumes", set("name", name), nil)
		}}
	cmd.AddCommand(c.write(), c.read(), c.verify(), c.failReplica())
	return cmd
}

func volumePath(name, what string) string { return "/v1/volumes/" + url.PathEscape(name) + "/" + what }

func (c *ctl) write() *cobra.Command {
	in := control.WriteBlock{}
	var wait time.Duration
	cmd := &cobra.Command{Use: "write NAME BLOCK TEXT",
		Short: "Write a block through the volume's frontend; prints the number of the write", Args: cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			block, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil {
				return fmt.Errorf("reading the block's number: %w", err)
			}
			in.Block, in.Text, in.Wait = block, args[2], fault.Duration(wait)
			return c.ask(cmd, http.MethodPost, volumePath(args[0], "write"), nil, in)
		}}
	cmd.Flags().StringVar(&in.Node, "node", "", "through the frontend on this node; empty means the one that was opened last")
	cmd.Flags().DurationVar(&wait, "wait", 0, "try again for so long while the I/O waits")
	return cmd
}

func (c *ctl) read() *cobra.Command {
	var node string
	cmd := &cobra.Command{Use: "read NAME BLOCK", Short: "Read a block through the volume's frontend", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, http.MethodGet, volumePath(args[0], "read"), set("block", args[1], "node", node), nil)
		}}
	cmd.Flags().StringVar(&node, "node", "", "through the frontend on this node; empty means the one that was opened last")
	return cmd
}

func (c *ctl) verify() *cobra.Command {
	return &cobra.Command{Use: "verify NAME", Short: "Hold what can be read against what was acknowledged; fails on a difference",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var answer dataplane.Verification
			client := &control.Client{URL: c.url}
			if err := client.Do(cmd.Context(), http.MethodGet, volumePath(args[0], "verify"), nil, &answer); err != nil {
				return err
			}
			if err := c.print(answer); err != nil {
				return err
			}
			if !answer.OK {
				return fmt.Errorf("volume %s does not read as it was written", args[0])
			}
			return nil
		}}
}

func (c *ctl) failReplica() *cobra.Command {
	return &cobra.Command{Use: "fail NAME REPLICA", Short: "Put a replica into mode ERR at the engines that hold it",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, http.MethodPost, volumePath(args[0], "fail"), nil, control.FailReplica{Replica: args[1]})
		}}
}

func (c *ctl) writers() *cobra.Command {
	cmd := &cobra.Command{Use: "writers", Short: "Workloads that never stop, with their longest pause and what they found wrong",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.ask(cmd, http.MethodGet, "/v1/writers", nil, nil) }}
	in := control.StartWriter{}
	var interval time.Duration
	start := &cobra.Command{Use: "start VOLUME", Short: "Let a workload write to a volume", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Volume, in.Interval = args[0], fault.Duration(interval)
			return c.ask(cmd, http.MethodPost, "/v1/writers", nil, in)
		}}
	start.Flags().StringVar(&in.Node, "node", "", "where it runs; empty follows the volume, as a migrating guest does")
	start.Flags().DurationVar(&interval, "interval", 0, "time between writes; 0 means 10ms")
	start.Flags().Int64Var(&in.Blocks, "blocks", 0, "how many blocks it writes one after the other; 0 means 16")
	var node string
	stop := &cobra.Command{Use: "stop [VOLUME]", Short: "End writers and print what they did", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			volume := ""
			if len(args) == 1 {
				volume = args[0]
			}
			return c.ask(cmd, http.MethodDelete, "/v1/writers", set("volume", volume, "node", node), nil)
		}}
	stop.Flags().StringVar(&node, "node", "", "those on this node only")
	cmd.AddCommand(start, stop)
	return cmd
}

func (c *ctl) copyTime() *cobra.Command {
	in := control.CopyTime{}
	cmd := &cobra.Command{Use: "copy-time DURATION|hold|hold-before",
		Short: "How long copying a volume takes: rebuild, clone, backup, restore, purge, expansion", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Hold, in.HoldBefore = args[0] == "hold", args[0] == "hold-before"
			if !in.Hold && !in.HoldBefore {
				d, err := time.ParseDuration(args[0])
				if err != nil {
					return fmt.Errorf("reading the duration: %w", err)
				}
				in.Time = fault.Duration(d)
			}
			return c.ask(cmd, http.MethodPost, "/v1/copy-time", nil, in)
		}}
	cmd.Flags().StringVar(&in.Volume, "volume", "", "this volume only")
	return cmd
}

// kill ends an instance's process or RAID bdev: it is listed in state error.
func (c *ctl) kill() *cobra.Command {
	message := "killed"
	cmd := &cobra.Command{Use: "kill NODE NAME", Short: "Kill an instance: it is listed in state error and serves nothing",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			state := dataplane.Failed
			return c.ask(cmd, http.MethodPatch, "/v1/instances/"+url.PathEscape(args[0])+"/"+url.PathEscape(args[1]), nil,
				dataplane.Change{State: &state, ErrorMsg: &message})
		}}
	cmd.Flags().StringVar(&message, "message", message, "error message")
	return cmd
}
