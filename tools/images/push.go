package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// requireFree returns an error if the tag names something else in the registry: whoever pulls by it would get another image.
func requireFree(tag name.Tag, digest v1.Hash, options []remote.Option) error {
	there, err := remote.Head(tag, options...)
	var refused *transport.Error
	if errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return fmt.Errorf("asking for %s: %w", tag, err)
	}
	if there.Digest != digest {
		return fmt.Errorf("%s is there with another digest, %s instead of %s: raise VERSION, or replace it with --force", tag, there.Digest,
			digest)
	}
	return nil
}

// push writes the layout in dir into the repository of its name below registry, first what is referred to: images, the index with its tag,
// the SBOMs. A tag that names another index is replaced only with force. It returns the reference of the index, by digest.
func push(dir, registry string, force bool, options ...remote.Option) (string, error) {
	written, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return "", err
	}
	manifest, err := written.IndexManifest()
	if err != nil {
		return "", err
	}
	repository, err := name.NewRepository(registry + "/" + filepath.Base(dir))
	if err != nil {
		return "", err
	}
	var pushed string
	for _, entry := range manifest.Manifests {
		if !entry.MediaType.IsIndex() {
			continue
		}
		index, err := written.ImageIndex(entry.Digest)
		if err != nil {
			return "", err
		}
		tag := repository.Tag(entry.Annotations[refName])
		if !force {
			if err := requireFree(tag, entry.Digest, options); err != nil {
				return "", err
			}
		}
		if err := remote.WriteIndex(tag, index, options...); err != nil {
			return "", err
		}
		pushed = fmt.Sprintf("%s:%s@%s", repository, entry.Annotations[refName], entry.Digest)
	}
	return pushed, pushArtifacts(repository, written, manifest, options)
}

func pushArtifacts(repository name.Repository, written v1.ImageIndex, manifest *v1.IndexManifest, options []remote.Option) error {
	for _, entry := range manifest.Manifests {
		if !entry.MediaType.IsImage() {
			continue
		}
		image, err := written.Image(entry.Digest)
		if err != nil {
			return err
		}
		if err := remote.Write(repository.Digest(entry.Digest.String()), image, options...); err != nil {
			return err
		}
	}
	return nil
}

// report prints the digest of an index, and of each of its images with its size as it is pulled.
func report(out io.Writer, s source, index v1.ImageIndex) error {
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%-20s %-12s %s\n", s.binary, "v"+s.version, digest); err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, entry := range manifest.Manifests {
		image, err := index.Image(entry.Digest)
		if err != nil {
			return err
		}
		described, err := image.Manifest()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%-20s %-12s %s %5.1f MB\n", "", entry.Platform, entry.Digest,
			float64(described.Layers[0].Size)/1e6); err != nil {
			return err
		}
	}
	return nil
}
