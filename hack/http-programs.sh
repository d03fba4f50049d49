#!/usr/bin/env bash
# Copyright The Penstock Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Has the HTTP servers and clients that tests and benchmarks compare Penstock with or
# drive it by: those on PATH or, as root on Debian, the distribution's packages. No
# server is started as a service: tests run their own on private ports.
set -euo pipefail

# program=package, as Debian names it
programs=(nginx=nginx-light node=nodejs curl=curl nghttp=nghttp2-client h2load=nghttp2-client)

missing() {
  for entry in "${programs[@]}"; do
    command -v "${entry%%=*}" >/dev/null || echo "${entry##*=}"
  done | sort -u
}

mapfile -t packages < <(missing)
if [ "${#packages[@]}" -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "HTTP servers and clients: installing the distribution's ${packages[*]}"
  export DEBIAN_FRONTEND=noninteractive
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    # Debian starts a service as it installs it, unless this says no.
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    trap 'rm -f "$policy"' EXIT
  fi
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
fi

mapfile -t packages < <(missing)
if [ "${#packages[@]}" -gt 0 ]; then
  echo "Some HTTP servers and clients are not on PATH. Install them (on Debian and Ubuntu: sudo apt-get install ${packages[*]})." >&2
  exit 1
fi
