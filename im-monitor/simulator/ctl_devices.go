package main

import (
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
)

func (c *ctl) disks() *cobra.Command {
	var node string
	cmd := &cobra.Command{Use: "disks", Short: "The v2 disks that servers have loaded, with why one failed", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd, http.MethodGet, "/v1/disks", set("node", node), nil)
		}}
	cmd.Flags().StringVar(&node, "node", "", "this node only")
	return cmd
}

func (c *ctl) devices() *cobra.Command {
	var node string
	cmd := &cobra.Command{Use: "devices", Short: "The devices of nodes, what is on them, and a digest of their bytes", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd, http.MethodGet, "/v1/devices", set("node", node), nil)
		}}
	cmd.Flags().StringVar(&node, "node", "", "this node only")
	cmd.AddCommand(c.addDevice(), c.swapDevices(),
		c.devicePresent("appear NODE PATH", "Let a device appear", true),
		c.devicePresent("pull NODE PATH", "Pull a device out; its content stays", false),
		&cobra.Command{Use: "remove NODE PATH", Short: "Take a device out for good", Args: cobra.ExactArgs(2),
			RunE: func(cmd *cobra.Command, args []string) error {
				return c.ask(cmd, http.MethodDelete, "/v1/devices", url.Values{"node": {args[0]}, "path": {args[1]}}, nil)
			}})
	return cmd
}

func (c *ctl) addDevice() *cobra.Command {
	var in dataplane.Device
	var lvstore dataplane.Lvstore
	var replicas map[string]int64
	cmd := &cobra.Command{Use: "add NODE PATH", Short: "Put a device into a node, in the place of one with that path: blank, with a " +
		"filesystem, or with an lvstore",
		Args: cobra.ExactArgs(2), RunE: func(cmd *cobra.Command, args []string) error {
			in.Node, in.Path = args[0], args[1]
			if lvstore.UUID != "" || lvstore.Name != "" {
				lvstore.Replicas = map[string]uint64{}
				for name, size := range replicas {
					lvstore.Replicas[name] = uint64(size)
				}
				in.Lvstore = &lvstore
			}
			return c.ask(cmd, http.MethodPost, "/v1/devices", nil, in)
		}}
	f := cmd.Flags()
	f.StringVar(&in.Kind, "kind", dataplane.KindBlock, "block, file, nvme, virtio-blk or virtio-scsi")
	f.Int64Var(&in.Total, "total", 0, "bytes; 0 means 1 TiB")
	f.BoolVar(&in.Absent, "absent", false, "it appears later")
	f.StringVar(&in.Filesystem, "filesystem", "", "filesystem or partition table on it, such as ext4 or gpt")
	f.StringVar(&lvstore.UUID, "lvstore", "", "UUID of an lvstore on it")
	f.StringVar(&lvstore.Name, "lvstore-name", "", "name of that lvstore; without --lvstore its UUID is drawn")
	f.StringToInt64Var(&replicas, "replica", nil, "a replica on that lvstore, NAME=BYTES (repeatable)")
	return cmd
}

func (c *ctl) devicePresent(use, short string, present bool) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(2), RunE: func(cmd *cobra.Command, args []string) error {
		return c.ask(cmd, http.MethodPost, "/v1/devices/present", nil, control.SetDevice{Node: args[0], Path: args[1], Present: present})
	}}
}

func (c *ctl) swapDevices() *cobra.Command {
	return &cobra.Command{Use: "swap NODE PATH NODE PATH", Short: "Put each of two devices into the place of the other one",
		Args: cobra.ExactArgs(4),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, http.MethodPost, "/v1/devices/swap", nil,
				control.SwapDevices{Node: args[0], Path: args[1], OtherNode: args[2], OtherPath: args[3]})
		}}
}
