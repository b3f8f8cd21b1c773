package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	common "helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
)

func chartDir(name string) string { return filepath.Join(root, "charts", name) }

// render returns the manifests of a chart by the names of their templates, as helm template prints them: nothing is read from a cluster.
// Templates that render to nothing, and notes for people, are left out.
func render(dir, namespace string, values map[string]any) (map[string]string, error) {
	loaded, err := loader.Load(dir)
	if err != nil {
		return nil, err
	}
	text, err := renderChart(loaded, namespace, values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return text, nil
}

func renderChart(loaded *chart.Chart, namespace string, values map[string]any) (map[string]string, error) {
	if err := chartutil.ProcessDependencies(loaded, values); err != nil {
		return nil, err
	}
	options := common.ReleaseOptions{Name: "drover", Namespace: namespace, Revision: 1, IsInstall: true}
	all, err := util.ToRenderValues(loaded, values, options, nil)
	if err != nil {
		return nil, err
	}
	rendered, err := engine.Engine{}.RenderWithContext(context.Background(), loaded, all)
	if err != nil {
		return nil, err
	}
	byName := map[string]string{}
	for path, text := range rendered {
		if strings.TrimSpace(text) != "" && !strings.HasSuffix(path, "NOTES.txt") {
			byName[strings.TrimPrefix(strings.TrimPrefix(path, loaded.Name()+"/"), "templates/")] = text
		}
	}
	return byName, nil
}
