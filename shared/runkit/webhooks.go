package runkit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	admissionclient "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"drover.dev/drover/shared/takeover"
)

// webhooks knows whether longhorn-manager's webhook configurations exist: without its pods they refuse every write.
type webhooks struct {
	log     logr.Logger
	manager func() error // why this binary must not lead: pods of longhorn-manager run, which answer
	mutex   sync.Mutex
	there   map[string]string // the next step, by configuration
}

// watchWebhooks does not wait for a first list: it only reports. The watch ends with ctx.
func watchWebhooks(ctx context.Context, config *rest.Config, log logr.Logger, manager func() error) (*webhooks, error) {
	clients, err := admissionclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building the client that searches for webhook configurations: %w", err)
	}
	w := &webhooks{log: log, manager: manager, there: map[string]string{}}
	for _, c := range []struct {
		resource, name string
		example        runtime.Object
	}{
		{"validatingwebhookconfigurations", takeover.ValidatingWebhook, &admissionv1.ValidatingWebhookConfiguration{}},
		{"mutatingwebhookconfigurations", takeover.MutatingWebhook, &admissionv1.MutatingWebhookConfiguration{}},
	} {
		named := cache.NewListWatchFromClient(clients.RESTClient(), c.resource, metav1.NamespaceAll,
			fields.OneTermEqualSelector(metav1.ObjectNameField, c.name))
		informer := cache.NewSharedIndexInformer(named, c.example, 0, cache.Indexers{})
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: w.see, DeleteFunc: w.forget}); err != nil {
			return nil, fmt.Errorf("watching webhook configurations: %w", err)
		}
		go informer.RunWithContext(ctx)
	}
	return w, nil
}

func (w *webhooks) see(obj any) {
	what, next := stray(obj)
	w.mutex.Lock()
	w.there[what] = next
	w.mutex.Unlock()
	w.report()
}

func (w *webhooks) forget(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	what, _ := stray(obj)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.there, what)
}

// stray names a webhook configuration, and the next step about it.
func stray(obj any) (what, next string) {
	if _, ok := obj.(*admissionv1.MutatingWebhookConfiguration); ok {
		return "MutatingWebhookConfiguration " + takeover.MutatingWebhook, takeover.DeleteMutating
	}
	return "ValidatingWebhookConfiguration " + takeover.ValidatingWebhook, takeover.DeleteValidating
}

func (w *webhooks) report() {
	if err := w.Err(); err != nil {
		w.log.Info(err.Error())
	}
}

// Err reports that writes are refused, by whom, and what to do; nil while longhorn-manager's pods run, which answer.
func (w *webhooks) Err() error {
	if w.manager() != nil {
		return nil
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var problems []error
	for _, what := range slices.Sorted(maps.Keys(w.there)) {
		problems = append(problems, fmt.Errorf("%s refuses every write, for no longhorn-manager answers it; %s", what, w.there[what]))
	}
	return errors.Join(problems...)
}
