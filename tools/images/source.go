package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const contractLabel = "drover.dev/contract"

// source is one binary of the repository.
type source struct {
	root     string // of the repository
	binary   string // such as im-monitor; its package is the directory of this name
	version  string // of its file VERSION, such as 0.1.0
	contract string // the value of drover.dev/contract on the definitions in crds
}

func readSource(root, binary string) (source, error) {
	version, err := os.ReadFile(filepath.Join(root, binary, "VERSION"))
	if err != nil {
		return source{}, fmt.Errorf("the version of %s: %w", binary, err)
	}
	contract, err := readContract(root)
	return source{root: root, binary: binary, version: strings.TrimSpace(string(version)), contract: contract}, err
}

var contractLine = regexp.MustCompile(`(?m)^    ` + contractLabel + `: "([^"]+)"$`)

// readContract returns the one value of drover.dev/contract that all definitions in crds have.
func readContract(root string) (string, error) {
	files, err := filepath.Glob(filepath.Join(root, "crds", "longhorn.io_*.yaml"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("%s has no definitions in crds", root)
	}
	var contract string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		match := contractLine.FindSubmatch(text)
		if match == nil || contract != "" && contract != string(match[1]) {
			return "", fmt.Errorf("%s has no label %s, or another value than the other definitions", file, contractLabel)
		}
		contract = string(match[1])
	}
	return contract, nil
}

// labels describe the image. They have no commit and no time of a build: the digest changes only with what is in the image.
func (s source) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       s.binary,
		"org.opencontainers.image.description": s.binary + " of Drover, Longhorn's control plane as five Kubernetes controllers",
		"org.opencontainers.image.version":     s.version,
		"org.opencontainers.image.vendor":      "Drover",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		contractLabel:                          s.contract,
	}
}

// fetchSettings are those settings of Go that choose where modules come from and what is cached, and not what is built.
var fetchSettings = []string{"GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GONOPROXY", "GOMODCACHE", "GOCACHE"}

// buildEnv returns the environment of go build for a platform. GOENV=off leaves the file out that go env -w writes, but for fetchSettings.
func buildEnv(system, arch string) ([]string, error) {
	output, err := exec.Command("go", append([]string{"env"}, fetchSettings...)...).Output() // one line for each
	if err != nil {
		return nil, fmt.Errorf("asking for the settings of Go: %w", err)
	}
	values := strings.Split(strings.TrimSuffix(string(output), "\n"), "\n")
	if len(values) != len(fetchSettings) {
		return nil, fmt.Errorf("go env printed %d lines for %d settings", len(values), len(fetchSettings))
	}
	env := os.Environ()
	for i, name := range fetchSettings {
		env = append(env, name+"="+values[i])
	}
	return append(env, "GOENV=off", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOWORK=off",
		"GOEXPERIMENT=", "GODEBUG=", "GOFIPS140=off"), nil
}

// compile returns the static binary for a platform such as linux/arm64. Nothing of the environment but fetchSettings and Go's version has
// an effect on it.
func (s source) compile(platform string) ([]byte, error) {
	system, arch, found := strings.Cut(platform, "/")
	if !found {
		return nil, fmt.Errorf("platform %q is not of the form linux/amd64", platform)
	}
	dir, err := os.MkdirTemp("", "drover-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	target := filepath.Join(dir, s.binary)
	command := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags=grpcnotrace", "-ldflags=-s -w -buildid=", "-o", target,
		"./"+s.binary) // the tag: see the Makefile
	command.Dir = s.root
	if command.Env, err = buildEnv(system, arch); err != nil {
		return nil, err
	}
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("building for %s: %w\n%s", platform, err, output.String())
	}
	return os.ReadFile(target)
}
