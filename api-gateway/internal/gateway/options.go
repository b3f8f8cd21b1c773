package gateway

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
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
	// TLSAddress is the address of the REST API over TLS, with the certificate and key of two PEM files; empty: there is none.
	TLSAddress, Certificate, Key string
	// RequireTokens asks clients for a token of TokenAudience, except the pods that cannot send a token.
	RequireTokens bool
	TokenAudience string
	// Hosts are the names that clients use for the gateway, beside the names of its Services.
	Hosts []string
	// Origins are other web sites whose pages may write and stream.
	Origins []string
	// WriteTimeout limits how long a request waits until the gateway's own cache shows its write, or until a controller created an object.
	WriteTimeout time.Duration
}

// DefaultOptions returns the defaults of the flags.
func DefaultOptions() Options {
	return Options{Address: ":9502", RequestsPerSecond: 200, Burst: 400, Connections: 1000, Streams: 200, WriteTimeout: 5 * time.Second,
		TLSAddress: ":9503", TokenAudience: "api-gateway.drover.dev"}
}

// AddFlags adds the flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Address, "listen-address", o.Address, "address of the REST API")
	flags.StringVar(&o.TLSAddress, "tls-listen-address", o.TLSAddress, "address of the REST API over TLS, with --tls-certificate")
	flags.StringVar(&o.Certificate, "tls-certificate", o.Certificate,
		"PEM file of the certificate of --tls-listen-address, which is read again when it changes; empty: no TLS")
	flags.StringVar(&o.Key, "tls-key", o.Key, "PEM file of the key of --tls-certificate")
	flags.BoolVar(&o.RequireTokens, "require-tokens", o.RequireTokens, "ask for a token over TLS, which the API server checks, from clients "+
		"other than the pods of the CSI plugin, its deployer and the web interface")
	flags.StringVar(&o.TokenAudience, "token-audience", o.TokenAudience,
		"audience for which tokens must have been created: a token for it is of no use at the API server")
	flags.StringSliceVar(&o.Hosts, "allowed-hosts", o.Hosts, "names by which clients reach the gateway, such as the host of an Ingress; "+
		"IP addresses, localhost and the names of the Services always may. Empty: the pods of the web interface may pass on any name")
	flags.IntVar(&o.RequestsPerSecond, "requests-per-second", o.RequestsPerSecond,
		"requests per second that one client address may send; more are answered with 429")
	flags.IntVar(&o.Burst, "request-burst", o.Burst, "requests that one client address may send at once beyond that rate")
	flags.IntVar(&o.Connections, "connections", o.Connections, "connections that may be open at once at an address; more are closed, and one "+
		"client address may hold half of them. The pods that need no token have as many of their own")
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
	if (o.Certificate == "") != (o.Key == "") {
		problems = append(problems, errors.New("--tls-certificate and --tls-key belong together: give both, or none"))
	}
	if o.RequireTokens && o.TokenAudience == "" {
		problems = append(problems, errors.New("--require-tokens needs --token-audience"))
	}
	for _, host := range o.Hosts {
		if host == "" || host != strings.ToLower(host) || strings.ContainsAny(host, "/:*") {
			problems = append(problems, fmt.Errorf("--allowed-hosts: %q is no name of a host in lower case, such as longhorn.example.com", host))
		}
	}
	for _, origin := range o.Origins {
		if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" {
			problems = append(problems, fmt.Errorf("--allowed-origins: %q is no origin, such as https://longhorn.example.com", origin))
		}
	}
	return errors.Join(problems...)
}
