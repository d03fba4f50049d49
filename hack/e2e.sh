#!/usr/bin/env bash
# Copyright The Penstock Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests on a real cluster. Without further word that is the local one,
# which it starts and fills with freshly built images. Another cluster only on
# purpose: E2E_KUBECONFIG names it and E2E_IMAGES the prefix under which the images
# of hack/images are there. A plain KUBECONFIG is ignored: it may be anyone's.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "${E2E_KUBECONFIG:-}${E2E_IMAGES:-}" ] && { [ -z "${E2E_KUBECONFIG:-}" ] || [ -z "${E2E_IMAGES:-}" ]; }; then
  echo "e2e: another cluster needs both E2E_KUBECONFIG and E2E_IMAGES" >&2
  exit 2
fi
unset KUBECONFIG
# kubectl keeps discovery by address, which a re-made cluster shares with the last.
KUBECACHEDIR=$(mktemp -d)
export KUBECACHEDIR
go run ./hack/controlplane
export E2E_KUBECTL=$PWD/bin/controlplane/kubectl
go test -tags=e2e -c -o bin/e2e.test ./test/e2e

if [ -n "${E2E_KUBECONFIG:-}" ]; then
  enter=()
else
  make -s images
  go run ./hack/cluster up
  export E2E_KUBECONFIG=/var/lib/penstock-cluster/kubeconfig E2E_IMAGES=penstock.local
  enter=(nsenter --net=/run/netns/penstock --)
fi
trap 'rm -rf "$KUBECACHEDIR"' EXIT
cd test/e2e
"${enter[@]}" ../../bin/e2e.test -test.v -test.count=1 -test.timeout=20m "$@"
