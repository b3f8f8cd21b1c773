package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
		"a context that is not there": {[]string{"status"}, `reading the kubeconfig: .*gone.*; check with: kubectl config view`},
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
	text, err := os.ReadFile(filepath.Join("..", "..", "k9s", "plugins.yaml"))
	require.NoError(t, err)
	var file struct {
		Plugins map[string]struct {
			Scopes []string `json:"scopes"`
			Args   []string `json:"args"`
		} `json:"plugins"`
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	require.NotEmpty(t, file.Plugins)
	called := regexp.MustCompile(`^kubectl drover (.*) \| less -R$`)
	for name, plugin := range file.Plugins {
		line := called.FindStringSubmatch(plugin.Args[1])
		require.NotNil(t, line, name)
		root := NewFrame(discarded()).Root("test")
		command, rest, err := root.Find(strings.Fields(strings.ReplaceAll(line[1], `"`, "")))
		require.NoError(t, err, name)
		require.NotEqual(t, root, command, name)
		require.NoError(t, command.ParseFlags(rest), name)
		require.NoError(t, command.ValidateArgs(command.Flags().Args()), name)
		require.NotEmpty(t, plugin.Scopes, name)
	}
}
