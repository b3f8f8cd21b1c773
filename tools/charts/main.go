// Command charts renders charts with their default values into plain manifests, and packs charts for a registry.
//
//	charts render       # <controller>/deploy and deploy/<client>, what kubectl apply -k takes
//	charts package bin/charts
package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
)

// controllers have a chart of their own, of their name.
var controllers = []string{"api-gateway", "attach-controller", "disk-controller", "im-monitor", "orphan-controller", "snapshot-controller",
	"upgrade-controller"}

// clients are Longhorn's own programs that ask api-gateway. Each has a chart of its name, which the whole chart leaves out by default.
var clients = []string{"csi", "ui"}

// root is where the repository is, seen from this directory.
const root = "../.."

func main() {
	slog.SetLogLoggerLevel(slog.LevelWarn) // the loader reports every symbolic link
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "charts:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "render":
		return writeManifests()
	case len(args) == 2 && args[0] == "package":
		archives, err := pack(args[1])
		fmt.Println(strings.Join(archives, "\n"))
		return err
	default:
		return errors.New("the arguments are render, or package and a directory")
	}
}

// writeManifests writes the plain manifests of each controller and client, for longhorn-system.
func writeManifests() error {
	for _, client := range clients {
		rendered, err := render(chartDir(client), "longhorn-system", nil)
		if err != nil {
			return err
		}
		for name, text := range rendered {
			if err := os.WriteFile(filepath.Join(root, "deploy", client, name), []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	for _, controller := range controllers {
		rendered, err := renderDeploy(controller)
		if err != nil {
			return err
		}
		for name, text := range rendered {
			path := filepath.Join(root, controller, "deploy", name)
			if linked(controller, name) {
				continue
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// optional is a manifest of im-monitor's deploy that only a value of its chart switches on, and that no kustomization names.
const optional = "networkpolicy-instance-manager.yaml"

// separate is a manifest of api-gateway's deploy that no kustomization names: it takes the clients of a longhorn-manager that runs.
const separate = "service.yaml"

// renderDeploy returns the files of a controller's deploy: what its chart renders with its default values, and the optional manifest.
func renderDeploy(controller string) (map[string]string, error) {
	rendered, err := render(chartDir(controller), "longhorn-system", nil)
	if err != nil || controller != "im-monitor" {
		return rendered, err
	}
	chosen, err := render(chartDir(controller), "longhorn-system", map[string]any{"networkPolicy": map[string]any{"instanceManagers": true}})
	if err != nil {
		return nil, err
	}
	rendered[optional] = chosen[optional]
	return rendered, nil
}

// linked reports whether the chart takes a file of deploy as it is: role.yaml, which is generated from the code, and policy.yaml.
func linked(controller, name string) bool {
	chart, err := os.Stat(filepath.Join(chartDir(controller), "templates", name))
	if err == nil && name == "role.yaml" {
		return true
	}
	deployed, missing := os.Stat(filepath.Join(root, controller, "deploy", name))
	return err == nil && missing == nil && os.SameFile(chart, deployed)
}

// pack writes every chart as an archive into dir and returns their paths. Equal sources give equal archives.
func pack(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	charts, err := filepath.Glob(chartDir("*/Chart.yaml"))
	if err != nil {
		return nil, err
	}
	var archives []string
	for _, file := range charts {
		loaded, err := loader.Load(filepath.Dir(file))
		if err != nil {
			return archives, err
		}
		loaded.StampModTimes(time.Unix(0, 0))
		parts := slices.Clone(loaded.Dependencies()) // the loader has them in no order
		slices.SortFunc(parts, func(a, b *chart.Chart) int { return strings.Compare(a.Name(), b.Name()) })
		loaded.SetDependencies(parts...)
		path, err := chartutil.Save(loaded, dir)
		if err != nil {
			return archives, err
		}
		archives = append(archives, path)
	}
	return archives, nil
}
