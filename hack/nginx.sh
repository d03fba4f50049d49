#!/usr/bin/env bash
# Copyright The Penstock Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Has nginx and node for the tests that compare Penstock with other servers: those on
# PATH or, as root on Debian, the distribution's packages. Neither is started as a
# service: tests run servers of their own on private ports.
set -euo pipefail

missing=()
command -v nginx >/dev/null || missing+=(nginx-light)
command -v node >/dev/null || missing+=(nodejs)

if [ "${#missing[@]}" -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "nginx and node: installing the distribution's ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    # Debian starts a service as it installs it, unless this says no.
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    trap 'rm -f "$policy"' EXIT
  fi
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

for program in nginx node; do
  if ! command -v "$program" >/dev/null; then
    echo "$program is needed and not on PATH. Install it (on Debian and Ubuntu: sudo apt-get install nginx-light nodejs)." >&2
    exit 1
  fi
done
