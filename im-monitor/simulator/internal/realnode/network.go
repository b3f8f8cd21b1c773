package realnode

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// bridge connects the nodes with each other and with the controllers.
const bridge = "drover0"

// address numbers the addresses and the link of one pod.
type address int

// pod returns the address that Kubernetes reports of the pod: other nodes reach its processes there.
func (a address) pod() string { return fmt.Sprintf("198.18.%d.%d", int(a)/250, int(a)%250+1) }

// management returns a second address of the pod, which the proxies of this process reach.
func (a address) management() string { return fmt.Sprintf("198.19.%d.%d", int(a)/250, int(a)%250+1) }

// link returns the name of the link's end at the bridge.
func (a address) link() string { return "drover-" + strconv.Itoa(int(a)) }

// network is a bridge in the network namespace of this process. The address of each pod is also local here, for the proxies; it answers for
// none of them at the bridge.
type network struct {
	mutex sync.Mutex
	next  address
}

func newNetwork() (*network, error) {
	n := &network{}
	for _, args := range [][]string{{"link", "set", "lo", "up"}, {"link", "add", bridge, "type", "bridge"},
		{"address", "add", "198.19.255.254/16", "dev", bridge}, {"link", "set", bridge, "up"}} {
		if err := ip(args...); err != nil {
			return nil, err
		}
	}
	// The bridge must not answer for the pods' addresses, which are local for the proxies.
	if err := os.WriteFile("/proc/sys/net/ipv4/conf/"+bridge+"/arp_ignore", []byte("1"), 0); err != nil {
		return nil, fmt.Errorf("setting up the bridge of the nodes: %w", err)
	}
	return n, nil
}

// take returns addresses that no pod had before.
func (n *network) take() address {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.next++
	return n.next
}

// connect makes the pod's link: its other end is eth0 in the network namespace of the process.
func (n *network) connect(a address, pid int) error {
	_ = ip("link", "delete", a.link()) // the link of an earlier process of this pod ends soon by itself
	if err := ip("link", "add", a.link(), "type", "veth", "peer", "name", "eth0", "netns", strconv.Itoa(pid)); err != nil {
		return err
	}
	if err := ip("link", "set", a.link(), "master", bridge, "up"); err != nil {
		return err
	}
	return ip("address", "replace", a.pod()+"/32", "dev", "lo")
}

// setLink cuts the link of a pod, or mends it.
func (n *network) setLink(a address, up bool) error {
	return ip("link", "set", a.link(), map[bool]string{true: "up", false: "down"}[up])
}

// give ends the use of addresses. The link ended with the namespace of the pod.
func (n *network) give(a address) {
	_ = ip("address", "del", a.pod()+"/32", "dev", "lo") // it was never connected
}

func (n *network) close() error { return ip("link", "delete", bridge) }

// ip runs the command of iproute2.
func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("running ip %v: %w: %s", args, err, bytes.TrimSpace(out))
	}
	return nil
}
