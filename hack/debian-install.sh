#!/usr/bin/env bash
# Copyright The Penstock Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Installs packages of the distribution where that is possible, as root on Debian, and
# does nothing elsewhere: whoever calls it looks for the programs afterwards. Services
# that packages bring are not started: tests run servers of their own on private ports.
#
#   hack/debian-install.sh PACKAGE...
set -euo pipefail

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  exit 0
fi
echo "installing the distribution's $*"
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  # Debian starts a service as it installs it, unless this says no.
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$@" >/dev/null
