// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const adminPortFlag = "--admin-port="

// adminOf is where a sidecar that is started by this command answers about itself;
// empty for other proxies.
func adminOf(command *exec.Cmd) string {
	for _, argument := range command.Args {
		if port, found := strings.CutPrefix(argument, adminPortFlag); found {
			return "127.0.0.1:" + port
		}
	}
	return ""
}

// profiled runs a load, and has a sidecar write down where its CPU goes meanwhile.
func (c *proxyContender) profiled(ctx context.Context, folder string, length time.Duration, load func() (driven, error)) (driven, error) {
	if folder == "" || c.admin == "" {
		return load()
	}
	written := make(chan error, 1)
	go func() { written <- c.writeProfile(ctx, folder, length) }()
	got, err := load()
	if failure := <-written; err == nil {
		err = failure
	}
	return got, err
}

func (c *proxyContender) writeProfile(ctx context.Context, folder string, length time.Duration) error {
	seconds := strconv.Itoa(int(math.Ceil(length.Seconds())))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.admin+"/debug/pprof/profile?seconds="+seconds, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("profile %s: %w", c.name, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("profile %s: %s", c.name, response.Status)
	}
	file, err := os.CreateTemp(folder, "cpu-*.pprof")
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, response.Body); err != nil {
		return fmt.Errorf("profile %s: %w", c.name, err)
	}
	return file.Close()
}

// mergeProfiles makes one profile of those in a folder.
func mergeProfiles(ctx context.Context, folder, into string) error {
	files, err := filepath.Glob(filepath.Join(folder, "cpu-*.pprof"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("write %s: no sidecar was measured", into)
	}
	merged, err := exec.CommandContext(ctx, "go", append([]string{"tool", "pprof", "-proto"}, files...)...).Output()
	if err != nil {
		return fmt.Errorf("merge %d profiles: %w", len(files), err)
	}
	return os.WriteFile(into, merged, 0o644)
}
