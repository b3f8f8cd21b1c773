package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// spdxType is the artifact type of an SBOM.
const spdxType types.MediaType = "application/spdx+json"

// document is an SPDX 2.3 document, as far as Go's build information fills it.
type document struct {
	SPDXVersion       string         `json:"spdxVersion"`
	DataLicense       string         `json:"dataLicense"`
	SPDXID            string         `json:"SPDXID"`
	Name              string         `json:"name"`
	DocumentNamespace string         `json:"documentNamespace"`
	CreationInfo      creationInfo   `json:"creationInfo"`
	Packages          []spdxPackage  `json:"packages"`
	Relationships     []relationship `json:"relationships"`
}

type creationInfo struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	SPDXID           string        `json:"SPDXID"`
	Name             string        `json:"name"`
	VersionInfo      string        `json:"versionInfo"`
	DownloadLocation string        `json:"downloadLocation"`
	FilesAnalyzed    bool          `json:"filesAnalyzed"`
	LicenseConcluded string        `json:"licenseConcluded"`
	LicenseDeclared  string        `json:"licenseDeclared"`
	CopyrightText    string        `json:"copyrightText"`
	Comment          string        `json:"comment,omitempty"` // the module's sum as go.sum has it
	ExternalRefs     []externalRef `json:"externalRefs,omitempty"`
}

type externalRef struct {
	ReferenceCategory string `json:"referenceCategory"`
	ReferenceType     string `json:"referenceType"`
	ReferenceLocator  string `json:"referenceLocator"`
}

type relationship struct {
	SPDXElementID      string `json:"spdxElementId"`
	RelationshipType   string `json:"relationshipType"`
	RelatedSPDXElement string `json:"relatedSpdxElement"`
}

// bom returns an artifact with the SBOM of a binary, whose subject is the binary's image.
func (s source) bom(binary []byte, image v1.Image) (v1.Image, error) {
	subject, err := partial.Descriptor(image)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return nil, fmt.Errorf("the build information of %s: %w", s.binary, err)
	}
	text, err := json.MarshalIndent(s.document(info, subject.Digest), "", "  ")
	if err != nil {
		return nil, err
	}
	return newArtifact(static.NewLayer(text, spdxType), subject)
}

// document lists what the binary was linked from: its own package, Go's standard library, and each module.
func (s source) document(info *debug.BuildInfo, image v1.Hash) document {
	d := document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", Name: s.binary,
		DocumentNamespace: "https://drover.dev/spdx/" + s.binary + "/" + image.Hex,
		// The time of the build would make each build another one.
		CreationInfo: creationInfo{Created: "1970-01-01T00:00:00Z", Creators: []string{"Organization: Drover", "Tool: images"}},
	}
	d.add("DESCRIBES", "SPDXRef-DOCUMENT", s.module(info.Path, s.version, ""))
	own := d.Packages[0].SPDXID
	d.Packages[0].LicenseDeclared = "Apache-2.0"
	d.add("CONTAINS", own, s.module("stdlib", strings.TrimPrefix(info.GoVersion, "go"), ""))
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		d.add("CONTAINS", own, s.module(module.Path, module.Version, module.Sum))
	}
	return d
}

// module describes a module by its purl and Go's checksum. From where it was downloaded is the builder's affair: no location is asserted.
func (s source) module(path, version, sum string) spdxPackage {
	return spdxPackage{
		SPDXID: fmt.Sprintf("SPDXRef-%s", identifier(path+"-"+version)), Name: path, VersionInfo: version, DownloadLocation: "NOASSERTION",
		LicenseConcluded: "NOASSERTION", LicenseDeclared: "NOASSERTION", CopyrightText: "NOASSERTION", Comment: sum,
		ExternalRefs: []externalRef{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}},
	}
}

// add adds a package and its relationship from another element.
func (d *document) add(kind, from string, p spdxPackage) {
	d.Packages = append(d.Packages, p)
	d.Relationships = append(d.Relationships, relationship{from, kind, p.SPDXID})
}

// identifier replaces what SPDX does not allow in an identifier.
func identifier(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, text)
}
