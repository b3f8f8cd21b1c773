package command

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"drover.dev/drover/kubectl-drover/internal/bundle"
	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
)

// reportReads are the reads of a report: all kinds of Drover, and what Kubernetes knows of its processes. Secrets are not among them.
var reportReads = cluster.AllOtherwise("they are left out", cluster.Volumes, cluster.Attachments, cluster.Engines, cluster.Frontends,
	cluster.Replicas,
	cluster.InstanceManagers, cluster.Nodes, cluster.Snapshots, cluster.Backups, cluster.BackupTargets, cluster.RecurringJobs, cluster.Orphans,
	cluster.Settings, cluster.EngineImages, cluster.Upgrades, cluster.NodeUpgrades,
	cluster.Leases.Otherwise("the leases are left out"), cluster.Deployments.Otherwise("the Deployments are left out"),
	cluster.Events.Otherwise("the events are left out"), cluster.Pods.Otherwise("pods, logs and metrics are left out"))

func (f *Frame) report() Command {
	var file string
	var allPods bool
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Collect objects, events, logs and metrics into a zip for support",
		Long: `report reads all custom resources, events, leases, the pods of Drover and Longhorn, their logs and their metrics, and writes them into one zip. Secrets are never read, and
values that look like credentials are left out; see what the zip has before you send it. Progress goes to stderr.`,
		Example: `  kubectl drover report
  kubectl drover report --file /tmp/drover.zip`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.runReport(cmd.Context(), file, allPods) },
	}
	cmd.Flags().StringVar(&file, "file", "", "the zip to write; without it drover-report-TIME.zip here. One that exists is not overwritten")
	cmd.Flags().BoolVar(&allPods, "all-pods", false, "include pods of the namespace that are not of Drover or Longhorn")
	rights := rightsOf(reportReads...)
	logs, metrics := cluster.ReadLogs, cluster.ProxyPods
	logs.Without, metrics.Without = "the logs are left out", "the metrics are left out"
	rights = append(rights, logs, metrics)
	return Command{Command: cmd, Rights: rights}
}

func (f *Frame) runReport(ctx context.Context, file string, allPods bool) error {
	client, err := f.connect(ctx)
	if err != nil {
		return err
	}
	config, err := f.Kube.ToRESTConfig()
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	w := client.World()
	f.progress("reading objects in namespace %s", client.Namespace)
	if err := f.read(ctx, client, w, reportReads...); err != nil {
		return err
	}
	if !allPods {
		w.Pods.Items = slices.DeleteFunc(w.Pods.Items, func(pod corev1.Pod) bool { return !bundle.IsSystemPod(&pod) })
	}
	if file == "" {
		file = "drover-report-" + w.Now.UTC().Format("20060102-150405") + ".zip"
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // logs may name what others need not know
	if err != nil {
		return fmt.Errorf("creating the report: %w; name another one with --file", err)
	}
	err = errors.Join(f.writeReport(ctx, config, out, w), out.Close())
	if err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return f.print(zipped{File: file})
}

// zipped is the report that was written.
type zipped struct {
	// File is the path of the zip, as it was given or below the working directory.
	File string `json:"file"`
}

// Names returns nothing: a file is no object.
func (z zipped) Names() []string { return nil }

// Text writes the path.
func (z zipped) Text(p *terminal.Printer) { p.Line("%s", z.File) }

// writeReport writes the zip. What cannot be read of a pod is named in it.
func (f *Frame) writeReport(ctx context.Context, config *rest.Config, out io.Writer, w *world.World) error {
	archive := zip.NewWriter(out)
	add := func(name, text string) error {
		entry, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: w.Now})
		if err == nil {
			_, err = io.WriteString(entry, text)
		}
		return err
	}
	if err := addObjects(w, add); err != nil {
		return err
	}
	reader, err := cluster.NewPodReader(config)
	if err != nil {
		return err
	}
	pods := podFiles{reader: reader, within: f.Within, add: add, silent: map[string]bool{}}
	for i := range w.Pods.Items {
		f.progress("reading pod %s (%d of %d)", w.Pods.Items[i].Name, i+1, len(w.Pods.Items))
		if err := pods.of(ctx, &w.Pods.Items[i]); err != nil {
			return err
		}
	}
	missing := pods.missing
	for _, unread := range w.Unread {
		missing = append(missing, unread.Resource+": "+unread.Reason)
	}
	for _, line := range missing {
		f.progress("left out: %s", line)
	}
	return errors.Join(add("left-out.txt", bundle.Text(strings.Join(missing, "\n"))), archive.Close())
}

// addObjects writes each list of the world as YAML, without credentials.
func addObjects(w *world.World, add func(name, text string) error) error {
	lists := reflect.ValueOf(w).Elem()
	for i := range lists.NumField() {
		items := lists.Field(i)
		if items.Kind() != reflect.Struct || !items.FieldByName("Items").IsValid() || items.FieldByName("Items").Len() == 0 {
			continue
		}
		text, err := json.Marshal(items.FieldByName("Items").Interface())
		if err != nil {
			return err
		}
		var objects []any
		if err := json.Unmarshal(text, &objects); err != nil {
			return err
		}
		if text, err = yaml.Marshal(bundle.Object(objects)); err != nil {
			return err
		}
		if err := add("objects/"+strings.ToLower(lists.Type().Field(i).Name)+".yaml", string(text)); err != nil {
			return err
		}
	}
	return nil
}
