package main

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"drover.dev/drover/shared/testkit/alerts"
)

var charts = slices.Concat([]string{"crds", "drover"}, controllers, clients)

func readValues(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	values := map[string]any{}
	require.NoError(t, yaml.Unmarshal(text, &values))
	return values
}

// objects parses manifests.
func objects(t *testing.T, manifests map[string]string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(manifests)) {
		for text := range strings.SplitSeq(manifests[name], "\n---\n") {
			object := &unstructured.Unstructured{}
			require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object), "%s:\n%s", name, text)
			if len(object.Object) > 0 {
				all = append(all, object)
			}
		}
	}
	require.NotEmpty(t, all)
	return all
}

func kinds(all []*unstructured.Unstructured) map[string]int {
	count := map[string]int{}
	for _, object := range all {
		count[object.GetKind()]++
	}
	return count
}

// People who use kubectl and people who use Helm install the same.
func TestPlainManifestsAreWhatTheChartsRender(t *testing.T) {
	for _, controller := range controllers {
		rendered, err := renderDeploy(controller)
		require.NoError(t, err)
		deploy := filepath.Join(root, controller, "deploy")
		for name, text := range rendered {
			deployed, err := os.ReadFile(filepath.Join(deploy, name))
			require.NoError(t, err)
			require.Equal(t, text, string(deployed), "%s/%s: change charts/controller and run make charts", deploy, name)
		}
		var kustomization struct{ Resources []string }
		text, err := os.ReadFile(filepath.Join(deploy, "kustomization.yaml"))
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(text, &kustomization))
		delete(rendered, optional)
		delete(rendered, separate)
		require.ElementsMatch(t, slices.Collect(maps.Keys(rendered)), kustomization.Resources, deploy)
	}
	rendered, err := render(chartDir("crds"), "longhorn-system", nil)
	require.NoError(t, err)
	var plain []*unstructured.Unstructured
	var kustomization struct{ Resources []string }
	text, err := os.ReadFile(filepath.Join(root, "crds", "kustomization.yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &kustomization))
	for _, file := range kustomization.Resources {
		text, err := os.ReadFile(filepath.Join(root, "crds", file))
		require.NoError(t, err)
		plain = append(plain, objects(t, map[string]string{file: string(text)})...)
	}
	charted := objects(t, rendered)
	for _, object := range charted {
		if object.GetKind() != "ClusterRole" { // what protects the objects stays with them
			annotations := object.GetAnnotations()
			require.Equal(t, "keep", annotations["helm.sh/resource-policy"], object.GetName())
			delete(annotations, "helm.sh/resource-policy")
			if len(annotations) == 0 {
				annotations = nil
			}
			object.SetAnnotations(annotations)
		}
	}
	require.ElementsMatch(t, plain, charted)
}

func TestEveryChartIsLintedWithDefaultsAndWithAllValues(t *testing.T) {
	for _, name := range charts {
		for _, values := range []map[string]any{nil, allValues(t, name)} {
			result := (&action.Lint{Strict: true, Namespace: "longhorn-system"}).Run([]string{chartDir(name)}, values)
			require.Empty(t, result.Errors, name)
			require.Equal(t, 1, result.TotalChartsLinted)
		}
	}
}

// allValues returns other values than the defaults for a chart.
func allValues(t *testing.T, chart string) map[string]any {
	t.Helper()
	all := readValues(t, "testdata/all-values.yaml")
	switch chart {
	case "crds":
		return map[string]any{"policies": map[string]any{"enabled": false}, "roles": map[string]any{"enabled": false}}
	case "drover":
		values := map[string]any{"global": map[string]any{"imageRegistry": "mirror.example.com",
			"imagePullSecrets": []any{map[string]any{"name": "all"}}}}
		for _, controller := range controllers {
			values[controller] = readValues(t, "testdata/all-values.yaml")
		}
		for _, client := range clients {
			values[client] = allValues(t, client)
			values[client].(map[string]any)["enabled"] = true
		}
		return values
	case "csi", "ui":
		return readValues(t, "testdata/all-values-"+chart+".yaml")
	}
	return all
}

// leaves returns the paths of all values, with what is below lists and free maps left out.
func leaves(path string, value any) []string {
	fields, isMap := value.(map[string]any)
	if !isMap || len(fields) == 0 ||
		slices.Contains([]string{".requests", ".limits", ".metricsFrom", ".labels", ".parameters"}, filepath.Ext(path)) ||
		!strings.Contains(path, ".") && (path == "nodeSelector" || path == "podAnnotations") {
		return []string{path}
	}
	var all []string
	for name, field := range fields {
		all = append(all, leaves(strings.TrimPrefix(path+"."+name, "."), field)...)
	}
	return all
}

func TestEveryValueOfAControllerChangesWhatIsRendered(t *testing.T) {
	defaults, all := readValues(t, "../../charts/controller/values.yaml"), readValues(t, "testdata/all-values.yaml")
	for _, path := range leaves("", defaults) {
		require.Contains(t, leaves("", all), path, "testdata/all-values.yaml lacks a value")
	}
	for _, path := range leaves("", all) {
		chart := "im-monitor"
		if path == "csiLease.create" {
			chart = "attach-controller" // im-monitor has none
		}
		if path == "hostPaths" || path == "checkNode" {
			chart = "disk-controller"
		}
		if path == "service.create" || strings.HasPrefix(path, "rest.") {
			chart = "api-gateway"
		}
		if strings.HasPrefix(path, "webhook.") || path == "engineBinaries" {
			chart = "snapshot-controller"
		}
		before, err := render(chartDir(chart), "longhorn-system", readValues(t, "testdata/all-values.yaml"))
		require.NoError(t, err)
		if path == "image.tag" {
			continue // the digest wins
		}
		values, fields := readValues(t, "testdata/all-values.yaml"), strings.Split(path, ".")
		inner := values
		for _, field := range fields[:len(fields)-1] {
			inner = inner[field].(map[string]any)
		}
		delete(inner, fields[len(fields)-1])
		if path == "networkPolicy.enabled" {
			inner["enabled"] = false
		}
		if path == "networkPolicy.metricsFrom" {
			inner["metricsFrom"] = map[string]any{"other": "label"}
		}
		if path == "webhook.certManager.issuerRef.name" { // the default names none
			inner["name"] = "other"
		}
		after, err := render(chartDir(chart), "longhorn-system", values)
		require.NoError(t, err, path)
		require.NotEqual(t, before, after, path)
	}
}

// versionOf returns the version of a controller, such as 0.1.0.
func versionOf(t *testing.T, controller string) string {
	t.Helper()
	version, err := os.ReadFile(filepath.Join(root, controller, "VERSION"))
	require.NoError(t, err)
	return strings.TrimSpace(string(version))
}

func TestAnImageIsNamedByTagOrDigest(t *testing.T) {
	digest, version := "sha256:"+strings.Repeat("ab", 32), versionOf(t, "im-monitor")
	for want, values := range map[string]string{
		"drover/im-monitor:v" + version:                      `{}`,
		"drover/im-monitor:v0.2.0":                           `{image: {tag: v0.2.0}}`,
		"drover/im-monitor@" + digest:                        `{image: {tag: v0.2.0, digest: "` + digest + `"}}`,
		"registry.example.com/drover/im-monitor:v" + version: `{image: {registry: registry.example.com}}`,
		"mirror.example.com/drover/im-monitor:v" + version:   `{global: {imageRegistry: mirror.example.com}}`,
		"registry.example.com/storage/monitor@" + digest:     `{global: {imageRegistry: mirror.example.com}, image: {registry: registry.example.com, repository: storage/monitor, digest: "` + digest + `"}}`,
	} {
		given := map[string]any{}
		require.NoError(t, yaml.Unmarshal([]byte(values), &given))
		rendered, err := render(chartDir("im-monitor"), "longhorn-system", given)
		require.NoError(t, err)
		require.Contains(t, rendered["deployment.yaml"], "\n        image: "+want+"\n")
	}
}

func TestATypoInAValueIsRefusedWithItsName(t *testing.T) {
	for _, c := range []struct{ chart, values, named string }{
		{"im-monitor", `{replica: 3}`, "replica"},
		{"im-monitor", `{image: {tagg: v1}}`, "tagg"},
		{"im-monitor", `{image: {digest: "sha256:12"}}`, "digest"},
		{"orphan-controller", `{resources: {limit: {memory: 1Gi}}}`, "limit"},
		{"attach-controller", `{tolerations: [{kei: a}]}`, "kei"},
		{"snapshot-controller", `{log: {level: verbose}}`, "level"},
		{"upgrade-controller", `{extraArgs: [observe]}`, "extraArgs"},
		{"crds", `{policy: {enabled: false}}`, "policy"},
		{"crds", `{roles: {enable: false}}`, "enable"},
		{"csi", `{storageClass: {parameter: {}}}`, "parameter"},
		{"csi", `{provisioner: {replica: 3}}`, "replica"},
		{"csi", `{kubeletDir: kubelet}`, "kubeletDir"},
		{"ui", `{networkPolicy: {form: []}}`, "form"},
		{"drover", `{csi: {enabled: true, kubeletdir: /var/lib/kubelet}}`, "kubeletdir"},
		{"drover", `{im-monitr: {enabled: false}}`, "im-monitr"},
		{"drover", `{im-monitor: {replica: 3}}`, "replica"},
		{"drover", `{crds: {roles: {enable: false}}}`, "enable"},
		{"drover", `{global: {registry: example.com}}`, "registry"},
	} {
		values := map[string]any{}
		require.NoError(t, yaml.Unmarshal([]byte(c.values), &values))
		_, err := render(chartDir(c.chart), "longhorn-system", values)
		require.ErrorContains(t, err, c.named, "%s: %s", c.chart, c.values)
		require.ErrorContains(t, err, "schema", "%s: %s", c.chart, c.values)
	}
}

// Rancher and other programs add keys of their own to global.
func TestKeysOfOthersInGlobalAreAccepted(t *testing.T) {
	for _, name := range charts {
		_, err := render(chartDir(name), "longhorn-system",
			map[string]any{"global": map[string]any{"cattle": map[string]any{"systemDefaultRegistry": ""}}})
		require.NoError(t, err, name)
	}
}

// enabled is a value for the chart that has this one as a part.
func TestAChartByItselfCannotBeSwitchedOff(t *testing.T) {
	for _, name := range slices.Concat([]string{"crds"}, controllers, clients) {
		_, err := render(chartDir(name), "longhorn-system", map[string]any{"enabled": false})
		require.ErrorContains(t, err, "enabled is a value of the chart drover", name)
	}
}

func TestUpgradeControllerIsNotInstalledWithoutWhatTakesSnapshots(t *testing.T) {
	values := map[string]any{"snapshot-controller": map[string]any{"enabled": false}}
	_, err := render(chartDir("drover"), "longhorn-system", values)
	require.ErrorContains(t, err, "upgrade-controller needs snapshot-controller")
	values["snapshotControllerElsewhere"] = true
	_, err = render(chartDir("drover"), "longhorn-system", values)
	require.NoError(t, err)
	_, err = render(chartDir("drover"), "longhorn-system", map[string]any{
		"snapshot-controller": map[string]any{"enabled": false}, "upgrade-controller": map[string]any{"enabled": false}})
	require.NoError(t, err)
}

func TestEveryPartOfTheSystemCanBeSwitchedOff(t *testing.T) {
	whole, err := render(chartDir("drover"), "longhorn-system", nil)
	require.NoError(t, err)
	for _, part := range append([]string{"crds"}, controllers...) {
		rendered, err := render(chartDir("drover"), "longhorn-system", map[string]any{
			part: map[string]any{"enabled": false}, "snapshotControllerElsewhere": part == "snapshot-controller"})
		require.NoError(t, err)
		own := 0
		for name, text := range whole {
			if strings.HasPrefix(name, "charts/"+part+"/") {
				own++
				require.NotContains(t, rendered, name)
				continue
			}
			require.Equal(t, text, rendered[name], name)
		}
		require.NotZero(t, own, part)
	}
}

func TestMonitoringIsRenderedOnlyOnRequest(t *testing.T) {
	for _, chart := range append([]string{"drover"}, controllers...) {
		rendered, err := render(chartDir(chart), "longhorn-system", nil)
		require.NoError(t, err)
		for name := range rendered {
			require.NotContains(t, []string{"servicemonitor.yaml", "prometheusrule.yaml", "dashboard.yaml"}, filepath.Base(name))
		}
	}
}

// A rule is in the chart of each controller whose metric or lease it names, and leads to the runbook where the value says.
func TestEveryAlertIsChartedWithItsRunbook(t *testing.T) {
	rules, err := alerts.Read(filepath.Join(root, "docs/alerts/rules.yaml"))
	require.NoError(t, err)
	charted := map[string]bool{}
	for _, controller := range controllers {
		for base, values := range map[string]map[string]any{
			alerts.RunbookBase:                     {"prometheusRule": map[string]any{"enabled": true}},
			"https://runbooks.example.com/drover/": allValues(t, controller),
		} {
			rendered, err := render(chartDir(controller), "longhorn-system", values)
			require.NoError(t, err)
			var object struct {
				Spec struct {
					Groups []struct{ Rules []alerts.Rule }
				}
			}
			require.NoError(t, yaml.Unmarshal([]byte(rendered["prometheusrule.yaml"]), &object))
			require.Len(t, object.Spec.Groups, 1)
			require.NotEmpty(t, object.Spec.Groups[0].Rules, controller)
			for _, rule := range object.Spec.Groups[0].Rules {
				require.Equal(t, base+rule.Alert+".md", rule.Annotations["runbook_url"])
				rule.Annotations["runbook_url"] = alerts.RunbookBase + rule.Alert + ".md"
				require.Contains(t, rules, rule)
				named := strings.Contains(rule.Expr, "drover_"+strings.ReplaceAll(controller, "-", "_")+"_")
				require.True(t, named || rule.Labels["controller"] == controller, "%s is in the chart of %s", rule.Alert, controller)
				charted[rule.Expr] = true
			}
		}
	}
	for _, rule := range rules {
		require.True(t, charted[rule.Expr], "%s is in no chart", rule.Alert)
	}
}

func TestADashboardIsAConfigMapThatTheSidecarLoads(t *testing.T) {
	for _, chart := range append([]string{"drover"}, controllers...) {
		rendered, err := render(chartDir(chart), "longhorn-system",
			map[string]any{"dashboards": map[string]any{"enabled": true, "labels": map[string]any{"folder": "storage"}}})
		require.NoError(t, err)
		var object corev1.ConfigMap
		require.NoError(t, yaml.UnmarshalStrict([]byte(rendered["dashboard.yaml"]), &object))
		require.Equal(t, map[string]string{"grafana_dashboard": "1", "folder": "storage"}, object.Labels)
		file, err := os.ReadFile(filepath.Join(root, "docs/dashboards", chart+".json"))
		require.NoError(t, err)
		require.Equal(t, map[string]string{chart + ".json": string(file)}, object.Data)
	}
}

// The values of the guide switch on all there is.
func TestTheGuideToMonitoringSwitchesItOn(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join(root, "docs/monitoring.md"))
	require.NoError(t, err)
	_, text, found := strings.Cut(string(guide), "```yaml\n# monitoring.yaml\n")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "```")
	values := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &values))
	rendered, err := render(chartDir("drover"), "longhorn-system", values)
	require.NoError(t, err)
	count := map[string]int{}
	for name := range rendered {
		count[filepath.Base(name)]++
	}
	require.Equal(t, []int{7, 7, 8}, []int{count["servicemonitor.yaml"], count["prometheusrule.yaml"], count["dashboard.yaml"]})
}

// Kubernetes does not let a binding name another role, and whoever applies an object of an existing name takes it over: no name may be one
// of Longhorn's chart. Definitions and their policies belong to the group; the leases of the sidecars, which exclude them, are theirs on
// purpose.
func TestNamesOfRightsAreDroversOwn(t *testing.T) {
	rendered, err := render(chartDir("drover"), "longhorn-system", map[string]any{
		"im-monitor": map[string]any{"networkPolicy": map[string]any{"instanceManagers": true}}})
	require.NoError(t, err)
	all := objects(t, rendered)
	controllersOwn := `^(` + strings.Join(controllers, "|") + `)(-webhook)?$`
	for _, object := range all {
		switch kind := object.GetKind(); {
		case strings.HasSuffix(kind, "Role") || strings.HasSuffix(kind, "RoleBinding"):
			require.Regexp(t, `^drover-`, object.GetName())
		case kind == "Lease":
			require.Regexp(t, `^(drover-.+|external-(attacher|snapshotter)-leader-driver-longhorn-io)$`, object.GetName())
		case kind == "Service" && object.GetLabels()["app"] == "api-gateway":
			require.Equal(t, "longhorn-backend", object.GetName(), "clients are configured to ask it; that of Longhorn stays as it is")
		case object.GetNamespace() == "":
			require.Regexp(t, `^drover-|\.longhorn\.io$`, object.GetName(), kind)
		default:
			require.Regexp(t, `^drover-|`+controllersOwn, object.GetName(), kind)
		}
	}
	require.Equal(t, 9, kinds(all)["ClusterRole"])
	require.Equal(t, 1+len(controllers), kinds(all)["NetworkPolicy"])
}

// Helm adds the labels of a cluster to the labels of values.yaml, so that a default there could not be replaced.
func TestLabelsOfWhoReadsMetricsReplaceTheDefault(t *testing.T) {
	for values, want := range map[string]map[string]any{
		`{}`: {"drover.dev/metrics": "true"}, `{networkPolicy: {metricsFrom: {team: monitoring}}}`: {"team": "monitoring"},
	} {
		given := map[string]any{}
		require.NoError(t, yaml.Unmarshal([]byte(values), &given))
		rendered, err := render(chartDir("orphan-controller"), "longhorn-system", given)
		require.NoError(t, err)
		rules, _, err := unstructured.NestedSlice(objects(t, map[string]string{"": rendered["networkpolicy.yaml"]})[0].Object, "spec", "ingress")
		require.NoError(t, err)
		from := rules[len(rules)-1].(map[string]any)["from"]
		require.Equal(t, []any{map[string]any{"namespaceSelector": map[string]any{"matchLabels": want}}}, from)
	}
}

// Aggregation widens bindings that are there: the default adds nothing to the roles of Kubernetes.
func TestRolesForPeopleHaveNoLabelOfAggregationByDefault(t *testing.T) {
	for aggregate, want := range map[bool]int{false: 0, true: 2} {
		rendered, err := render(chartDir("crds"), "longhorn-system", map[string]any{"roles": map[string]any{"aggregate": aggregate}})
		require.NoError(t, err)
		require.Equal(t, want, strings.Count(rendered["roles.yaml"], "\n    rbac.authorization.k8s.io/aggregate-to-"))
	}
}

// A pod that is not ready must not block a drain, and no process has the group of root.
func TestPodsAreEvictedWhileNotReadyAndHaveNoGroupOfRoot(t *testing.T) {
	for _, controller := range controllers {
		rendered, err := render(chartDir(controller), "longhorn-system", nil)
		require.NoError(t, err)
		workload := rendered["daemonset.yaml"] // a drain leaves its pods alone
		if workload == "" {
			workload = rendered["deployment.yaml"]
			budget := objects(t, map[string]string{"": rendered["poddisruptionbudget.yaml"]})[0]
			policy, _, err := unstructured.NestedString(budget.Object, "spec", "unhealthyPodEvictionPolicy")
			require.NoError(t, err)
			require.Equal(t, "AlwaysAllow", policy)
		}
		context, _, err := unstructured.NestedMap(objects(t, map[string]string{"": workload})[0].Object,
			"spec", "template", "spec", "securityContext")
		require.NoError(t, err)
		require.EqualValues(t, 65532, context["runAsGroup"])
	}
}

// Mounts below /usr of a node, such as /usr/local, are read-only in the pod as /usr itself.
func TestDiskControllerChangesNoMountBelowUsr(t *testing.T) {
	rendered, err := render(chartDir("disk-controller"), "longhorn-system", nil)
	require.NoError(t, err)
	recursive := corev1.RecursiveReadOnlyIfPossible
	require.Contains(t, podSpecs(t, rendered)["disk-controller"].Spec.Containers[0].VolumeMounts,
		corev1.VolumeMount{Name: "usr", MountPath: "/host/usr", ReadOnly: true, RecursiveReadOnly: &recursive})
}

func TestVersionsOfChartsFitTheBinariesAndTheWhole(t *testing.T) {
	whole, err := loader.Load(chartDir("drover"))
	require.NoError(t, err)
	for _, dependency := range whole.Metadata.Dependencies {
		part, err := loader.Load(chartDir(dependency.Name))
		require.NoError(t, err)
		require.Equal(t, part.Metadata.Version, dependency.Version, dependency.Name)
		require.Equal(t, dependency.Name+".enabled", dependency.Condition)
		require.Equal(t, "file://../"+dependency.Name, dependency.Repository)
	}
	require.Len(t, whole.Metadata.Dependencies, 1+len(controllers)+len(clients))
	for _, controller := range controllers {
		part, err := loader.Load(chartDir(controller))
		require.NoError(t, err)
		require.Equal(t, versionOf(t, controller), part.Metadata.AppVersion, controller)
		require.Equal(t, controller, part.Metadata.Name)
	}
}

func TestTheREADMEOfAChartHasEveryValue(t *testing.T) {
	for _, name := range append([]string{"controller", "crds", "drover"}, clients...) {
		readme, err := os.ReadFile(filepath.Join(chartDir(name), "README.md"))
		require.NoError(t, err)
		for _, path := range leaves("", readValues(t, filepath.Join(chartDir(name), "values.yaml"))) {
			if before, _, found := strings.Cut(path, "resources."); found {
				path = before + "resources"
			}
			require.Contains(t, string(readme), fmt.Sprintf("`%s`", path), name)
		}
	}
}

func TestAPackedChartRendersTheSame(t *testing.T) {
	dir := t.TempDir()
	_, err := pack(dir)
	require.NoError(t, err)
	for _, name := range charts {
		archives, err := filepath.Glob(filepath.Join(dir, name+"-[0-9]*.tgz"))
		require.NoError(t, err)
		require.Len(t, archives, 1, name)
		packed, err := render(archives[0], "elsewhere", nil)
		require.NoError(t, err)
		plain, err := render(chartDir(name), "elsewhere", nil)
		require.NoError(t, err)
		require.Equal(t, plain, packed)
		for file, text := range plain {
			require.NotContains(t, text, "longhorn-system", "%s: %s", name, file)
		}
	}
	again, err := pack(t.TempDir())
	require.NoError(t, err)
	for _, archive := range again {
		first, err := os.ReadFile(filepath.Join(dir, filepath.Base(archive)))
		require.NoError(t, err)
		second, err := os.ReadFile(archive)
		require.NoError(t, err)
		require.Equal(t, sha256.Sum256(first), sha256.Sum256(second), archive)
	}
}
