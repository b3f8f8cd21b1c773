//go:build !fast

package main

import (
	"archive/tar"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

const repository = "../.."

var here = runtime.GOOS + "/" + runtime.GOARCH

// build makes the layout of a binary and returns its directory.
func build(t *testing.T, root, binary string, platforms ...string) string {
	t.Helper()
	s, err := readSource(root, binary)
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), binary)
	_, err = s.writeLayout(dir, platforms)
	require.NoError(t, err)
	return dir
}

// read returns what a layout lists: the index of the images, and each image's SBOM.
func read(t *testing.T, dir string) (index v1.ImageIndex, boms []v1.Image) {
	t.Helper()
	written, err := layout.ImageIndexFromPath(dir)
	require.NoError(t, err)
	manifest, err := written.IndexManifest()
	require.NoError(t, err)
	for _, entry := range manifest.Manifests {
		if entry.MediaType.IsIndex() {
			require.Nil(t, index, "two indexes")
			index, err = written.ImageIndex(entry.Digest)
			require.NoError(t, err)
			continue
		}
		bom, err := written.Image(entry.Digest)
		require.NoError(t, err)
		boms = append(boms, bom)
	}
	require.NotNil(t, index)
	return index, boms
}

func imagesOf(t *testing.T, index v1.ImageIndex) []v1.Image {
	t.Helper()
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	var images []v1.Image
	for _, entry := range manifest.Manifests {
		image, err := index.Image(entry.Digest)
		require.NoError(t, err)
		images = append(images, image)
	}
	return images
}

// unpack writes the one file of the image into a directory and returns its path.
func unpack(t *testing.T, image v1.Image) string {
	t.Helper()
	layers, err := image.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 1)
	content, err := layers[0].Uncompressed()
	require.NoError(t, err)
	defer content.Close()
	files := tar.NewReader(content)
	header, err := files.Next()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), header.Name)
	binary, err := io.ReadAll(files)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, binary, fs.FileMode(header.Mode)))
	_, err = files.Next()
	require.ErrorIs(t, err, io.EOF, "the image has another file")
	return path
}

// copyOf copies a directory without what Git ignores, and returns the copy.
func copyOf(t *testing.T, root string) string {
	t.Helper()
	target := t.TempDir()
	list, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	require.NoError(t, err)
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // deleted but not committed, or a link to a directory
		}
		path := filepath.Join(target, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, content, 0o644))
	}
	return target
}

func TestAnImageRunsItsBinaryWithoutRoot(t *testing.T) {
	index, _ := read(t, build(t, repository, "orphan-controller", here))
	require.NoError(t, validate.Index(index))
	image := imagesOf(t, index)[0]
	config, err := image.ConfigFile()
	require.NoError(t, err)
	require.Equal(t, "65532:65532", config.Config.User)
	require.Equal(t, []string{"/orphan-controller"}, config.Config.Entrypoint)
	require.Equal(t, runtime.GOARCH, config.Architecture)
	version, err := os.ReadFile(filepath.Join(repository, "orphan-controller", "VERSION"))
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(string(version)), config.Config.Labels["org.opencontainers.image.version"])

	output, err := exec.Command(unpack(t, image), "--version").CombinedOutput()
	require.NoError(t, err)
	require.Contains(t, string(output), strings.TrimSpace(string(version)))
}

// A person who rebuilds a release compares digests.
func TestTheDigestDependsOnNothingButTheSources(t *testing.T) {
	first, _ := read(t, build(t, repository, "orphan-controller", here))
	elsewhere := copyOf(t, repository)
	t.Setenv("GOFLAGS", "-tags=other")
	t.Setenv("GOFIPS140", "latest")
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	settings := filepath.Join(t.TempDir(), "env") // as go env -w writes it: Go takes an empty variable for one that is not set
	require.NoError(t, os.WriteFile(settings, []byte("GOFLAGS=-tags=file\nGOAMD64=v3\n"), 0o644))
	t.Setenv("GOENV", settings)
	second, _ := read(t, build(t, elsewhere, "orphan-controller", here))
	require.Equal(t, digest(t, first), digest(t, second))

	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "orphan-controller", "VERSION"), []byte("99.0.0\n"), 0o644))
	third, _ := read(t, build(t, elsewhere, "orphan-controller", here))
	require.NotEqual(t, digest(t, first), digest(t, third))
}

func digest(t *testing.T, of interface{ Digest() (v1.Hash, error) }) string {
	t.Helper()
	hash, err := of.Digest()
	require.NoError(t, err)
	return hash.String()
}

func TestAnSBOMListsTheModulesThatGoLinks(t *testing.T) {
	index, boms := read(t, build(t, repository, "orphan-controller", here))
	require.Len(t, boms, 1)
	manifest, err := boms[0].Manifest()
	require.NoError(t, err)
	require.Equal(t, digest(t, imagesOf(t, index)[0]), manifest.Subject.Digest.String())

	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}",
		"./orphan-controller")
	list.Dir, list.Env = repository, append(os.Environ(), "CGO_ENABLED=0")
	output, err := list.Output()
	require.NoError(t, err)
	source, err := readSource(repository, "orphan-controller")
	require.NoError(t, err)
	linked := map[string]string{"drover.dev/drover/orphan-controller": source.version, "stdlib": strings.TrimPrefix(runtime.Version(), "go")}
	for line := range strings.Lines(string(output)) {
		if module, version, found := strings.Cut(strings.TrimSpace(line), " "); found {
			linked[module] = version
		}
	}
	listed := map[string]string{}
	for _, p := range sbom(t, boms[0]).Packages {
		listed[p.Name] = p.VersionInfo
	}
	require.Equal(t, linked, listed)
}

func sbom(t *testing.T, artifact v1.Image) (d document) {
	t.Helper()
	layers, err := artifact.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 1)
	content, err := layers[0].Uncompressed()
	require.NoError(t, err)
	defer content.Close()
	require.NoError(t, json.NewDecoder(content).Decode(&d))
	return d
}

func TestAnIndexHasAnImageAndAnSBOMForEachPlatform(t *testing.T) {
	index, boms := read(t, build(t, "testdata/module", "tiny", "linux/amd64", "linux/arm64"))
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 2)
	require.Equal(t, "linux/amd64", manifest.Manifests[0].Platform.String())
	require.Equal(t, "linux/arm64", manifest.Manifests[1].Platform.String())
	require.Equal(t, "1.2.3", manifest.Annotations["org.opencontainers.image.version"])
	require.Equal(t, "7", manifest.Annotations["drover.dev/contract"])
	require.Len(t, boms, 2)
	for i, bom := range boms {
		described, err := bom.Manifest()
		require.NoError(t, err)
		require.Equal(t, manifest.Manifests[i].Digest, described.Subject.Digest)
	}
}

// The label says which definitions the binary works with: the binary must agree.
func TestTheContractIsOneThatEachBinaryKnows(t *testing.T) {
	contract, err := readContract(repository)
	require.NoError(t, err)
	controllers, err := filepath.Glob(filepath.Join(repository, "*", "deploy"))
	require.NoError(t, err)
	require.Len(t, controllers, 7)
	for _, deploy := range controllers {
		file := filepath.Join(filepath.Dir(deploy), "main.go")
		program, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Regexp(t, `Contracts: +\[\]string\{[^}]*"`+contract+`"`, string(program), file)
	}
}
