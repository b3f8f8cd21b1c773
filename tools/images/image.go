package main

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is nobody of the host, as in the Deployments' securityContext.
const user = "65532:65532"

// refName names the index of a layout: the tag that it is pushed as.
const refName = "org.opencontainers.image.ref.name"

// writeLayout builds the images of all platforms and replaces the OCI image layout in dir with them. It returns their index.
func (s source) writeLayout(dir string, platforms []string) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	var boms []v1.Image
	for _, platform := range platforms {
		image, bom, err := s.image(platform)
		if err != nil {
			return nil, err
		}
		described, err := v1.ParsePlatform(platform)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: described}})
		boms = append(boms, bom)
	}
	index = mutate.Annotations(index, s.labels()).(v1.ImageIndex)
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return nil, err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{refName: "v" + s.version})); err != nil {
		return nil, err
	}
	for _, bom := range boms {
		if err := path.AppendImage(bom); err != nil {
			return nil, err
		}
	}
	return index, nil
}

// image returns the image of one platform, which has the binary at its root and no other file, and its SBOM.
func (s source) image(platform string) (image, bom v1.Image, err error) {
	binary, err := s.compile(platform)
	if err != nil {
		return nil, nil, err
	}
	layer, err := s.layer(binary)
	if err != nil {
		return nil, nil, err
	}
	described, err := v1.ParsePlatform(platform)
	if err != nil {
		return nil, nil, err
	}
	image = mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: described.OS, Architecture: described.Architecture,
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{User: user, Entrypoint: []string{"/" + s.binary}, WorkingDir: "/", Labels: s.labels()},
	})
	if err != nil {
		return nil, nil, err
	}
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{CreatedBy: "go build ./" + s.binary}})
	if err != nil {
		return nil, nil, err
	}
	image = mutate.Annotations(image, s.labels()).(v1.Image)
	bom, err = s.bom(binary, image)
	return image, bom, err
}

// layer is the file system of the image.
func (s source) layer(binary []byte) (v1.Layer, error) {
	var files bytes.Buffer
	writer := tar.NewWriter(&files)
	header := &tar.Header{Name: s.binary, Mode: 0o555, Size: int64(len(binary)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
	if err := writer.WriteHeader(header); err != nil {
		return nil, err
	}
	if _, err := writer.Write(binary); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
}
