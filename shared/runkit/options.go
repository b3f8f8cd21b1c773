package runkit

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/leaselock"
)

// options are the flags that every binary has.
type options struct {
	kubeconfig, namespace  string
	observe, forceTakeOver bool
	metricsAddress         string
	healthAddress          string
	profileAddress         string
	leaderElect            bool
	leaseDuration          time.Duration
	renewDeadline          time.Duration
	retryPeriod            time.Duration
	lockDirectory          string
	logLevel, logFormat    string
	gracefulShutdown       time.Duration
	shutdownDelay          time.Duration
	checkTakeOver          bool
}

// addFlags adds the flags that every binary has. A stateless binary has no lease, and no flags for it.
func (o *options) addFlags(flags *pflag.FlagSet, stateless bool) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file; empty means $KUBECONFIG, else the pod's service account")
	flags.StringVar(&o.namespace, "namespace", namespaceDefault(), "namespace of the Longhorn objects (default from $POD_NAMESPACE)")
	flags.BoolVar(&o.observe, "observe", false, "write nothing and call nothing that has an effect; log what would be done")
	flags.BoolVar(&o.forceTakeOver, "force-take-over", false,
		"lead although a longhorn-manager pod runs in the namespace; two control planes then write the same objects")
	flags.BoolVar(&o.checkTakeOver, "check-take-over", false,
		"only list what of a Longhorn installation would refuse writes or act beside Drover, with the next steps, and end: run it as an "+
			"administrator")
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":9500", "address of the Prometheus endpoint /metrics; 0 disables it")
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", ":9501", "address of /healthz and /readyz; 0 disables them")
	flags.StringVar(&o.profileAddress, "profile-address", "0",
		"loopback address of /debug/pprof/, such as 127.0.0.1:6060: profiles of processor and memory for go tool pprof; 0 disables it")
	flags.DurationVar(&o.gracefulShutdown, "shutdown-timeout", 10*time.Second, "how long work under way may take to end after a signal")
	flags.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&o.logFormat, "log-format", "json", "json or text")
	lease := flags
	if stateless { // the options of the lease get their defaults, and no flags
		lease = pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.DurationVar(&o.shutdownDelay, "shutdown-delay", 5*time.Second, "how long the process works on after a signal, and reports that "+
			"it is not ready: the network needs a moment to lead clients to other processes")
	}
	o.addLeaseFlags(lease)
	o.leaderElect = o.leaderElect && !stateless
}

func (o *options) addLeaseFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.leaderElect, "leader-elect", true, "act only while holding the lease; without it run exactly one process")
	flags.DurationVar(&o.leaseDuration, "lease-duration", 15*time.Second,
		"how long a lease outlives a leader that crashed; the lease is renewed at half of this duration")
	flags.DurationVar(&o.renewDeadline, "renew-deadline", 12*time.Second,
		"a leader stops writing and calling when the start of its last renewal is this long ago")
	flags.DurationVar(&o.retryPeriod, "retry-period", time.Second,
		"time between attempts to get a lease that is free, and to renew it after a failure")
	flags.StringVar(&o.lockDirectory, "lease-lock-dir", lockDirectoryDefault(),
		"outside pods: directory of lock files, by which a restarted process knows that its earlier run is dead and takes its lease "+
			"back at once; empty: wait until the lease has expired")
}

func namespaceDefault() string {
	if ns := os.Getenv("POD_NAMESPACE"); ns != "" {
		return ns
	}
	return v1beta2.DefaultNamespace
}

func lockDirectoryDefault() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "drover", "leases")
}

// leaseTimes are those of the binary's own lease.
func (o *options) leaseTimes() leaselock.Times {
	return leaselock.Times{LeaseDuration: o.leaseDuration, RetryPeriod: o.retryPeriod}
}

// validate names every invalid flag, and what to give instead.
func (o *options) validate() error {
	var problems []error
	if o.namespace == "" {
		problems = append(problems, errors.New("--namespace is empty: name the namespace of the Longhorn objects"))
	}
	if o.shutdownDelay < 0 {
		problems = append(problems, fmt.Errorf("--shutdown-delay %s must be 0 or more", o.shutdownDelay))
	}
	if err := loopback(o.profileAddress); err != nil {
		problems = append(problems, err)
	}
	if o.leaseDuration <= o.renewDeadline {
		problems = append(problems, fmt.Errorf("--lease-duration %s must be longer than --renew-deadline %s", o.leaseDuration,
			o.renewDeadline))
	}
	if o.renewDeadline <= o.leaseTimes().RenewInterval()+o.retryPeriod {
		problems = append(problems, fmt.Errorf("--renew-deadline %s must be longer than half of --lease-duration %s and one "+
			"--retry-period %s together",
			o.renewDeadline, o.leaseDuration, o.retryPeriod))
	}
	// The library wants the deadline of an attempt to be longer than 1.2 retries.
	if o.leaseTimes().ElectorDeadline() <= o.retryPeriod*12/10 {
		problems = append(problems, fmt.Errorf("--lease-duration %s must be longer than 5.4 times --retry-period %s", o.leaseDuration,
			o.retryPeriod))
	}
	if _, err := o.logger(); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func (o *options) logger() (logr.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.logLevel)); err != nil {
		return logr.Logger{}, fmt.Errorf("--log-level %q is not debug, info, warn or error", o.logLevel)
	}
	settings := &slog.HandlerOptions{Level: level, ReplaceAttr: plainLevel}
	switch o.logFormat {
	case "json":
		return logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, settings)), nil
	case "text":
		return logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, settings)), nil
	}
	return logr.Logger{}, fmt.Errorf("--log-format %q is not json or text", o.logFormat)
}

// restConfig reads the identity. Rate is left to the API server's priority and fairness.
func (o *options) restConfig(userAgent string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig (set --kubeconfig or $KUBECONFIG, or run in a pod): %w", err)
	}
	config.QPS = -1
	if err := detectDeadConnections(); err != nil {
		return nil, err
	}
	// Every write of an object with the finalizer longhorn.io is answered with a warning about its name, which is a contract.
	config.WarningHandlerWithContext = rest.NoWarnings{}
	return rest.AddUserAgent(config, userAgent), nil
}

// detectDeadConnections makes client-go, which is configured by the environment, replace a connection that answers nothing for 10 s (by
// default 45 s): a lease is renewed on another connection before it is lost. What the environment already has stays.
func detectDeadConnections() error {
	for _, name := range []string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS", "HTTP2_PING_TIMEOUT_SECONDS"} {
		if os.Getenv(name) != "" {
			continue
		}
		if err := os.Setenv(name, "5"); err != nil {
			return fmt.Errorf("setting %s: %w", name, err)
		}
	}
	return nil
}

// plainLevel writes every level below info as DEBUG: logr's verbosities have no names of their own.
func plainLevel(_ []string, a slog.Attr) slog.Attr {
	if level, ok := a.Value.Any().(slog.Level); ok && a.Key == slog.LevelKey && level < slog.LevelInfo {
		a.Value = slog.StringValue("DEBUG")
	}
	return a
}
