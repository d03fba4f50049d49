// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hack tests how the scripts beside it treat wrong calls.
package hack

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestScriptsRefuseWrongCalls(t *testing.T) {
	t.Parallel()
	path := "PATH=" + os.Getenv("PATH")
	cases := map[string]struct {
		command     []string
		environment []string
		want        string
		wantCode    int
	}{
		"e2e with a cluster but no images": {
			command: []string{"./e2e.sh"}, environment: []string{path, "E2E_KUBECONFIG=/nowhere"},
			want: "both E2E_KUBECONFIG and E2E_IMAGES", wantCode: 2,
		},
		"e2e with images, and a KUBECONFIG that is anyone's": {
			command: []string{"./e2e.sh"}, environment: []string{path, "E2E_IMAGES=example", "KUBECONFIG=/nowhere"},
			want: "both E2E_KUBECONFIG and E2E_IMAGES", wantCode: 2,
		},
		"deploy with an unknown verb": {
			command: []string{"./deploy.sh", "destroy", "example", "dev"}, environment: []string{path, "KUBECTL=false"},
			want: "unknown verb destroy", wantCode: 2,
		},
		"a redis-server that is none": {
			command: []string{"./redis-server.sh"}, environment: []string{path, "REDIS_SERVER=/nowhere/redis-server"},
			want: "/nowhere/redis-server", wantCode: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), tc.command[0], tc.command[1:]...)
			command.Env = tc.environment
			output, err := command.CombinedOutput()
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != tc.wantCode || !strings.Contains(string(output), tc.want) {
				t.Errorf("ended with %v, printed %q; want exit code %d and %q", err, output, tc.wantCode, tc.want)
			}
		})
	}
}
