// Command images makes the container images of Drover's binaries from nothing but Go and this repository, and pushes them.
//
//	images build --out bin/images im-monitor orphan-controller
//	images push --out bin/images registry.example.com/drover
//
// Each binary gets an OCI image layout of its own, DIR/<binary>: an index with one image per platform, and beside it the SBOM (SPDX) of
// each image, whose subject is that image. Equal sources and an equal Go version give equal digests.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("the first argument is build or push")
	}
	flags := flag.NewFlagSet("images "+args[0], flag.ContinueOnError)
	root := flags.String("root", ".", "the root of the repository")
	out := flags.String("out", "bin/images", "the directory of the image layouts, one for each binary")
	platforms := flags.String("platforms", "linux/amd64,linux/arm64", "what to build for")
	force := flags.Bool("force", false, "replace tags of the registry that name another digest")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "build":
		return buildAll(*root, *out, strings.Split(*platforms, ","), flags.Args())
	case "push":
		if flags.NArg() != 1 {
			return fmt.Errorf("push needs one registry, such as registry.example.com/drover")
		}
		return pushAll(*out, flags.Arg(0), *force)
	default:
		return fmt.Errorf("%q is neither build nor push", args[0])
	}
}

func buildAll(root, out string, platforms, binaries []string) error {
	for _, binary := range binaries {
		source, err := readSource(root, binary)
		if err != nil {
			return err
		}
		index, err := source.writeLayout(filepath.Join(out, binary), platforms)
		if err != nil {
			return fmt.Errorf("%s: %w", binary, err)
		}
		if err := report(os.Stdout, source, index); err != nil {
			return err
		}
	}
	return nil
}

func pushAll(out, registry string, force bool) error {
	layouts, err := filepath.Glob(filepath.Join(out, "*", "index.json"))
	if err != nil || len(layouts) == 0 {
		return fmt.Errorf("%s has no image: run make images first", out)
	}
	for _, file := range layouts {
		pushed, err := push(filepath.Dir(file), registry, force, remote.WithAuthFromKeychain(authn.DefaultKeychain))
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Dir(file), err)
		}
		fmt.Println(pushed)
	}
	return nil
}
