package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// webhookConfigurations are the kinds that configure which webhooks the API server calls.
var webhookConfigurations = map[string]bool{"MutatingWebhookConfiguration": true, "ValidatingWebhookConfiguration": true}

// AskAboutSnapshots lets the API server call the webhooks of this snapshot-controller process for Snapshots, with the
// configurations of its deploy directory, but at its address instead of a Service, which has no routing here. Another call
// with another process replaces the first.
func (w *World) AskAboutSnapshots(ctx context.Context, process *Process) error {
	root, err := root(ctx, w.options.Sources[SnapshotController])
	if err != nil {
		return err
	}
	file, err := os.Open(filepath.Join(root, SnapshotController, "deploy", "webhook.yaml"))
	if err != nil {
		return fmt.Errorf("reading the webhook configurations: %w", err)
	}
	defer func() { _ = file.Close() }()
	for decoder := utilyaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("reading the webhook configurations: %w", err)
		}
		if !webhookConfigurations[object.GetKind()] {
			continue
		}
		if err := w.askAt(ctx, object, process.hook); err != nil {
			return err
		}
	}
}

// WaitSnapshotsRefused waits until the API server calls the webhook: a Snapshot of no volume is refused. It returns what the refusal says.
// One that was accepted before is deleted again.
func (w *World) WaitSnapshotsRefused(ctx context.Context, within time.Duration) (refusal string, err error) {
	err = w.Wait(ctx, "the API server to call the webhook", within, func(ctx context.Context) (string, error) {
		name := Unique("stray")
		switch err := w.Snapshot(ctx, "nothing", name); {
		case err == nil:
			return "a Snapshot of no volume was accepted", w.DeleteSnapshot(ctx, name)
		case strings.Contains(err.Error(), "there is no volume"):
			_, refusal, _ = strings.Cut(err.Error(), "denied the request: ")
			return "", nil
		default:
			return err.Error(), nil
		}
	})
	return refusal, err
}

// askAt replaces the Service of every webhook by an address, and applies the configuration. The CA bundle is kept.
func (w *World) askAt(ctx context.Context, configuration *unstructured.Unstructured, address string) error {
	hooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return fmt.Errorf("reading %s: %w", configuration.GetName(), err)
	}
	for _, hook := range hooks {
		config := hook.(map[string]any)["clientConfig"].(map[string]any)
		path := config["service"].(map[string]any)["path"].(string)
		delete(config, "service")
		config["url"] = "https://" + address + path
	}
	configuration.Object["webhooks"] = hooks
	err = w.Admin.Apply(ctx, client.ApplyConfigurationFromUnstructured(configuration), client.FieldOwner("e2e"), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("applying %s %s: %w", configuration.GetKind(), configuration.GetName(), err)
	}
	return nil
}

// RemoveWebhooks deletes the webhook configurations for Snapshots.
func (w *World) RemoveWebhooks(ctx context.Context) error {
	for kind := range webhookConfigurations {
		object := &unstructured.Unstructured{}
		object.SetAPIVersion("admissionregistration.k8s.io/v1")
		object.SetKind(kind)
		object.SetName("drover-" + SnapshotController)
		if err := w.Admin.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting %s %s: %w", kind, object.GetName(), err)
		}
	}
	return nil
}

func portOf(address string) string {
	_, port, _ := strings.Cut(address, ":")
	return port
}

// Unasked are the failed webhook requests of the API server, as in its log. The API server accepted the requests behind them.
func (w *World) Unasked() ([]string, error) {
	content, err := os.ReadFile(filepath.Join(w.cluster.Dir(), "kube-apiserver.log"))
	if err != nil {
		return nil, fmt.Errorf("reading the API server's log: %w", err)
	}
	var out []string
	for line := range strings.Lines(string(content)) {
		if strings.Contains(line, "failing open") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out, nil
}
