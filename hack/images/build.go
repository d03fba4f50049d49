// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// nonRoot is the user of distroless images; restricted pods accept it.
const nonRoot = "65532:65532"

// build writes the archive of one image and returns the compressed size of its layers.
func build(ctx context.Context, o options, i image, work, archive string) (int64, error) {
	files, err := contents(ctx, o, i, work)
	if err != nil {
		return 0, err
	}
	img, err := assemble(i, files)
	if err != nil {
		return 0, err
	}
	tag, err := name.NewTag(i.reference())
	if err != nil {
		return 0, fmt.Errorf("name the image: %w", err)
	}
	// A reader never sees half an archive.
	partial := archive + ".partial"
	defer os.Remove(partial)
	if err := tarball.WriteToFile(partial, tag, img); err != nil {
		return 0, fmt.Errorf("write the archive: %w", err)
	}
	if err := os.Rename(partial, archive); err != nil {
		return 0, fmt.Errorf("put the archive in place: %w", err)
	}
	return compressedSize(img)
}

// contents returns the files of an image, by their path in it.
func contents(ctx context.Context, o options, i image, work string) (map[string]string, error) {
	if i.Machine != "" {
		return machineProgram(ctx, i)
	}
	binary := filepath.Join(work, i.Name)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w -X main.version="+o.Version, "-o", binary, i.Package)
	cmd.Dir = filepath.Join(o.Root, i.Dir)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH, "GOWORK=off")
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w\n%s", i.Package, err, bytes.TrimSpace(output))
	}
	return map[string]string{i.entrypoint(): binary}, nil
}

func assemble(i image, files map[string]string) (v1.Image, error) {
	text, err := layerTar(files)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(opener(text))
	if err != nil {
		return nil, fmt.Errorf("compress the layer: %w", err)
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, fmt.Errorf("add the layer: %w", err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the image's configuration: %w", err)
	}
	img, err = mutate.ConfigFile(img, configure(i, file))
	if err != nil {
		return nil, fmt.Errorf("set the image's configuration: %w", err)
	}
	return img, nil
}
