package webhookserver

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/snapshot-controller/internal/certificatecontroller"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

// The paths that the webhook configurations name.
const (
	CompletePath = "/complete-snapshot"
	ReviewPath   = "/review-snapshot"
	// formerReviewPath is what configurations from before 0.1.0 name; it is answered in 0.1 and 0.2.
	formerReviewPath = "/judge-snapshot"
)

// Options configure whether and how the API server is answered.
type Options struct {
	// Port is where; 0: nowhere.
	Port int
	// Certificate is who keeps what is served with.
	Certificate certificatecontroller.Options
}

// DefaultOptions answers.
func DefaultOptions() Options {
	return Options{Port: 9443, Certificate: certificatecontroller.Options{Validity: 90 * 24 * time.Hour}}
}

// AddFlags adds the flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.IntVar(&o.Port, "webhook-port", o.Port, "port of the admission webhook for Snapshots; 0 disables the webhook")
	flags.DurationVar(&o.Certificate.Validity, "webhook-certificate-validity", o.Certificate.Validity,
		"how long a certificate of the webhook is valid; it is changed after half of that")
	flags.BoolVar(&o.Certificate.External, "webhook-certificate-external", o.Certificate.External,
		"another program, such as cert-manager, keeps the certificate in the Secret "+certificatecontroller.SecretName+" and the caBundle of "+
			"the webhook configurations: only read the Secret, and serve what is in it")
}

// Setup registers the server, and what keeps its certificate. A process that only observes answers nobody: that would
// change what others write.
func Setup(ctx context.Context, rt *runkit.Runtime, options Options) error {
	if options.Port == 0 || rt.Observe {
		return nil
	}
	if err := rt.AddIndexes(ctx, volumecontext.Indexes...); err != nil {
		return err
	}
	store := &certificatecontroller.Store{}
	if err := certificatecontroller.Setup(rt, store, options.Certificate); err != nil {
		return err
	}
	server := webhook.NewServer(webhook.Options{Port: options.Port, TLSOpts: []func(*tls.Config){
		func(c *tls.Config) { c.GetCertificate, c.MinVersion = store.Get, tls.VersionTLS12 },
	}})
	volumes := newVolumes(rt.Namespace, rt.Client, rt.Uncached)
	server.Register(CompletePath, &admission.Webhook{Handler: &completer{rt: rt, volumes: volumes}})
	for _, path := range []string{ReviewPath, formerReviewPath} {
		server.Register(path, &admission.Webhook{Handler: &evaluator{rt: rt, volumes: volumes}})
	}
	return rt.Manager.Add(server)
}
