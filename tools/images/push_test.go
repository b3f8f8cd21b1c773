//go:build !fast

package main

import (
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

func TestAPushedImageIsPulledWithItsSBOM(t *testing.T) {
	for kind, options := range map[string][]registry.Option{
		"a registry that lists referrers":   {registry.WithReferrersSupport(true)},
		"a registry that knows no referrer": nil,
	} {
		t.Run(kind, func(t *testing.T) {
			server := httptest.NewServer(registry.New(append(options, registry.Logger(log.New(io.Discard, "", 0)))...))
			t.Cleanup(server.Close)
			dir := build(t, "testdata/module", "tiny", "linux/amd64", "linux/arm64")
			host := strings.TrimPrefix(server.URL, "http://")
			pushed, err := push(dir, host+"/storage", false)
			require.NoError(t, err)
			built, boms := read(t, dir)
			require.Equal(t, host+"/storage/tiny:v1.2.3@"+digest(t, built), pushed)

			tag, err := name.NewTag(host + "/storage/tiny:v1.2.3")
			require.NoError(t, err)
			pulled, err := remote.Index(tag)
			require.NoError(t, err)
			require.Equal(t, digest(t, built), digest(t, pulled))
			require.NoError(t, validate.Index(pulled))
			for i, image := range imagesOf(t, pulled) {
				referrers, err := remote.Referrers(tag.Digest(digest(t, image)))
				require.NoError(t, err)
				listed, err := referrers.IndexManifest()
				require.NoError(t, err)
				require.Len(t, listed.Manifests, 1)
				require.Equal(t, digest(t, boms[i]), listed.Manifests[0].Digest.String())
				bom, err := remote.Image(tag.Digest(listed.Manifests[0].Digest.String()))
				require.NoError(t, err)
				described, err := bom.Manifest()
				require.NoError(t, err)
				require.Equal(t, string(spdxType), described.ArtifactType)
				require.Equal(t, "tiny", sbom(t, bom).Name)
			}

			again, err := push(dir, host+"/storage", false)
			require.NoError(t, err)
			require.Equal(t, pushed, again)
		})
	}
}

// Who pulls by a tag gets what was pushed first, until somebody insists.
func TestATagOfAnotherDigestIsReplacedByForceOnly(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	first, err := push(build(t, "testdata/module", "tiny", "linux/amd64"), host+"/storage", false)
	require.NoError(t, err)
	other := build(t, "testdata/module", "tiny", "linux/arm64")
	_, err = push(other, host+"/storage", false)
	require.ErrorContains(t, err, "is there with another digest")
	tag, err := name.NewTag(host + "/storage/tiny:v1.2.3")
	require.NoError(t, err)
	there, err := remote.Head(tag)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(first, there.Digest.String()))
	replaced, err := push(other, host+"/storage", true)
	require.NoError(t, err)
	there, err = remote.Head(tag)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(replaced, there.Digest.String()))
	require.NotEqual(t, first, replaced)
}

func TestPushWithoutImagesExplainsItself(t *testing.T) {
	require.ErrorContains(t, run([]string{"push", "--out", t.TempDir(), "registry.example.com"}), "run make images first")
}
