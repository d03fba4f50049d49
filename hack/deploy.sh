#!/usr/bin/env bash
# Copyright The Penstock Authors.
# SPDX-License-Identifier: Apache-2.0
#
# deploy.sh apply|delete PREFIX TAG: kubectl apply -k config/default with the
# images PREFIX/manager:TAG and PREFIX/sidecar:TAG, or the removal of all that
# it put there. The overlay is written to bin/, the work tree stays as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
verb=$1 prefix=$2 tag=$3
kubectl=${KUBECTL:-kubectl}

overlay=bin/deploy
mkdir -p "$overlay"
# kustomize does not inherit where an overlaid folder says that images stand.
cp config/manager/image-fields.yaml "$overlay/"
cat >"$overlay/kustomization.yaml" <<YAML
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../../config/default]
configurations: [image-fields.yaml]
images:
- {name: penstock.local/manager, newName: $prefix/manager, newTag: "$tag"}
- {name: penstock.local/sidecar, newName: $prefix/sidecar, newTag: "$tag"}
YAML
case $verb in
apply)
  # Server-side, since a CRD is larger than the annotation of a client-side apply.
  $kubectl apply --server-side --force-conflicts -k "$overlay"
  ;;
delete)
  # The webhook goes first, so that no pod waits for an operator that is gone.
  $kubectl delete --ignore-not-found mutatingwebhookconfiguration penstock
  $kubectl delete --ignore-not-found -k "$overlay"
  # What the operator put beside the apps: it is not there any more to take it back.
  $kubectl delete secret --all-namespaces --ignore-not-found --field-selector=metadata.name=penstock-sidecar \
    --selector=app.kubernetes.io/managed-by=penstock
  ;;
*)
  echo "deploy.sh: unknown verb $verb; it is apply or delete" >&2
  exit 2
  ;;
esac
