package command

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"
)

// An error names what is wrong and what to type next; it goes to stderr, so that a program that reads stdout gets nothing.
func TestErrorsNameTheNextStep(t *testing.T) {
	s := &scenario{t: t, namespace: "longhorn-system", kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	require.NoError(t, os.WriteFile(s.kubeconfig, []byte(`{"kind": "Config", "current-context": "gone",
		"contexts": [{"name": "silent", "context": {"cluster": "silent"}}],
		"clusters": [{"name": "silent", "cluster": {"server": "https://127.0.0.1:1"}}]}`), 0o600))
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"a volume is missing":         {[]string{"why"}, `why takes one VOLUME, and was given 0; see: kubectl drover why --help`},
		"a command that is not known": {[]string{"whi"}, `unknown command "whi" for "kubectl drover"\n\nDid you mean this\?\n\twhy\n`},
		"a context that is not there": {[]string{"status"}, `reading the kubeconfig: .*gone.*; check with: kubectl config get-contexts`},
		"no answer": {[]string{"status", "--context", "silent"},
			`reading \S+: Get .*: connection refused; check the API server with: kubectl cluster-info --context silent`},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.run(test.args...)
			require.Equal(t, ExitFailed, got.code)
			require.Empty(t, got.out)
			require.Regexp(t, `(?s)^error: `+test.want+`\n$`, got.err)
		})
	}
}

// Without a kubeconfig client-go asks localhost:8080, and what is suggested against its silence would fail in the same way.
func TestAMissingKubeconfigIsNamed(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	var out, shown bytes.Buffer
	frame := NewFrame(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &shown})
	require.Equal(t, ExitFailed, frame.Run(t.Context(), "0.0.0-test", []string{"status"}))
	require.Empty(t, out.String())
	require.Contains(t, shown.String(), "error: there is no kubeconfig: KUBECONFIG is not set or names no file")
}

// Whoever names a cluster or an identity means it for what is suggested, too.
func TestSuggestedCommandsAreForTheClusterThatWasNamed(t *testing.T) {
	frame := NewFrame(discarded())
	flags := frame.Root("test").PersistentFlags()
	require.NoError(t, flags.Parse([]string{"--kubeconfig", "/tmp/config", "--context", "prod", "--as", "alice",
		"--as-group", "ops", "--token", "secret"}))
	require.Equal(t, []string{"--kubeconfig", "/tmp/config", "--context", "prod", "--as", "alice", "--as-group", "ops"}, frame.connection())

	s := newScenario(t, "common.yaml", "outage/objects.yaml")
	got := s.run("why", "vol-faulted", "--kubeconfig", s.kubeconfig)
	require.Contains(t, got.out, "  kubectl drover tree vol-faulted -n "+s.namespace+" --kubeconfig "+s.kubeconfig+"\n")
}

// The plugins of k9s call commands that exist, with arguments that they take.
func TestThePluginsOfK9sCallCommands(t *testing.T) {
	shortCuts := map[string]string{}
	for name, plugin := range readPluginsOfK9s(t) {
		require.Equal(t, []string{"-c", `kubectl drover "$@" | less -R`, "drover"}, plugin.Args[:3],
			"%s: what k9s puts into the text of a shell's command is a part of that", name)
		root := NewFrame(discarded()).Root("test")
		command, rest, err := root.Find(plugin.Args[3:])
		require.NoError(t, err, name)
		require.NotEqual(t, root, command, name)
		require.NoError(t, command.ParseFlags(rest), name)
		require.NoError(t, command.ValidateArgs(command.Flags().Args()), name)
		require.NotEmpty(t, plugin.Scopes, name)
		for _, scope := range plugin.Scopes {
			key := plugin.ShortCut + " in " + scope
			require.NotContains(t, shortCuts, key, "%s and %s", name, shortCuts[key])
			shortCuts[key] = name
		}
	}
}

// A shell runs what k9s makes of a plugin: no value becomes a command.
func TestAValueOfK9sIsNoPartOfACommand(t *testing.T) {
	dir, mark := t.TempDir(), filepath.Join(t.TempDir(), "executed")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\"\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "less"), []byte("#!/bin/sh\ncat\n"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	evil := `"; touch ` + mark + `; $(touch ` + mark + `) #`
	for name, plugin := range readPluginsOfK9s(t) {
		args := make([]string, 0, len(plugin.Args))
		for _, arg := range plugin.Args {
			args = append(args, strings.NewReplacer("$NAMESPACE", "ns", "$NAME", "name", "$CONTEXT", evil).Replace(arg))
		}
		out, err := exec.Command("sh", args...).CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		require.Contains(t, string(out), evil, name)
		require.NoFileExists(t, mark, name)
	}
}

type pluginOfK9s struct {
	ShortCut string   `json:"shortCut"`
	Scopes   []string `json:"scopes"`
	Args     []string `json:"args"`
}

func readPluginsOfK9s(t *testing.T) map[string]pluginOfK9s {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "k9s", "plugins.yaml"))
	require.NoError(t, err)
	var file struct {
		Plugins map[string]pluginOfK9s `json:"plugins"`
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	require.NotEmpty(t, file.Plugins)
	return file.Plugins
}
