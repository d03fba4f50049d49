// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// configure sets how a container of the image runs.
func configure(i image, file *v1.ConfigFile) *v1.ConfigFile {
	file = file.DeepCopy()
	file.OS = "linux"
	file.Architecture = runtime.GOARCH
	file.Config.Entrypoint = []string{i.entrypoint()}
	file.Config.User = nonRoot
	file.Config.WorkingDir = "/data"
	return file
}

func compressedSize(img v1.Image) (int64, error) {
	layers, err := img.Layers()
	if err != nil {
		return 0, fmt.Errorf("list the image's layers: %w", err)
	}
	var sum int64
	for _, layer := range layers {
		size, err := layer.Size()
		if err != nil {
			return 0, fmt.Errorf("measure a layer: %w", err)
		}
		sum += size
	}
	return sum, nil
}
