package gateway

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/pflag"
)

// Options are the flags of the gateway.
type Options struct {
	// Address is the address that the gateway listens on.
	Address string
	// RequestsPerSecond and Burst limit the requests of one client address; Connections limits open connections, Streams open WebSockets.
	RequestsPerSecond, Burst int
	Connections, Streams     int
	// Origins are other web sites whose pages may write and stream.
	Origins []string
	// WriteTimeout limits how long a request waits until the gateway's own cache shows its write, or until a controller created an object.
	WriteTimeout time.Duration
}

// DefaultOptions returns the defaults of the flags.
func DefaultOptions() Options {
	return Options{Address: ":9502", RequestsPerSecond: 200, Burst: 400, Connections: 1000, Streams: 200, WriteTimeout: 5 * time.Second}
}

// AddFlags adds the flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Address, "listen-address", o.Address, "address of the REST API")
	flags.IntVar(&o.RequestsPerSecond, "requests-per-second", o.RequestsPerSecond,
		"requests per second that one client address may send; more are answered with 429")
	flags.IntVar(&o.Burst, "request-burst", o.Burst, "requests that one client address may send at once beyond that rate")
	flags.IntVar(&o.Connections, "connections", o.Connections, "connections that may be open at once; more wait to be accepted, and "+
		"one client address may hold half of them")
	flags.IntVar(&o.Streams, "streams", o.Streams, "streams (WebSockets) that may be open at once; more are answered with 503")
	flags.StringSliceVar(&o.Origins, "allowed-origins", o.Origins,
		"origins, such as https://longhorn.example.com, of other web sites whose pages may write and stream; pages that this address serves "+
			"always may")
	flags.DurationVar(&o.WriteTimeout, "write-timeout", o.WriteTimeout,
		"how long a request waits until it can read its own write, and for objects that controllers create; the CSI plugin gives up after 10s")
}

// validate names every flag that cannot be served.
func (o Options) validate() error {
	var problems []error
	for _, f := range []struct {
		name  string
		value int
	}{{"requests-per-second", o.RequestsPerSecond}, {"request-burst", o.Burst}, {"connections", o.Connections}, {"streams", o.Streams}} {
		if f.value < 1 {
			problems = append(problems, fmt.Errorf("--%s must be at least 1", f.name))
		}
	}
	if o.WriteTimeout <= 0 || o.WriteTimeout > 9*time.Second {
		problems = append(problems, fmt.Errorf("--write-timeout %s must be more than 0 and at most 9s: the CSI plugin gives up after 10s",
			o.WriteTimeout))
	}
	for _, origin := range o.Origins {
		if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" {
			problems = append(problems, fmt.Errorf("--allowed-origins: %q is no origin, such as https://longhorn.example.com", origin))
		}
	}
	return errors.Join(problems...)
}
