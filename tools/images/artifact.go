package main

import (
	"encoding/json"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// emptyType is the media type of the configuration of what is no container: the two bytes {}.
const emptyType types.MediaType = "application/vnd.oci.empty.v1+json"

// artifact is a manifest of OCI 1.1 with one blob, about another manifest.
type artifact struct {
	manifest []byte
	blob     v1.Layer
}

// newArtifact returns a blob as an artifact about subject; the blob's media type is the artifact's type.
func newArtifact(blob v1.Layer, subject *v1.Descriptor) (v1.Image, error) {
	described, err := partial.Descriptor(blob)
	if err != nil {
		return nil, err
	}
	config, err := partial.Descriptor(static.NewLayer([]byte("{}"), emptyType))
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: string(described.MediaType), Config: *config,
		Layers:  []v1.Descriptor{*described},
		Subject: &v1.Descriptor{MediaType: subject.MediaType, Digest: subject.Digest, Size: subject.Size},
	})
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(&artifact{manifest: manifest, blob: blob})
}

func (a *artifact) RawConfigFile() ([]byte, error)      { return []byte("{}"), nil }
func (a *artifact) RawManifest() ([]byte, error)        { return a.manifest, nil }
func (a *artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

func (a *artifact) LayerByDigest(digest v1.Hash) (partial.CompressedLayer, error) {
	own, err := a.blob.Digest()
	if err == nil && own != digest {
		err = fmt.Errorf("no blob %s", digest)
	}
	return a.blob, err
}
