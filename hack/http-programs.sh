#!/usr/bin/env bash
# Copyright The Penstock Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Has the HTTP servers and clients that tests and benchmarks compare Penstock with or
# drive it by, and the C compiler that the race detector needs: those on PATH or, as
# root on Debian, the distribution's packages.
set -euo pipefail
cd "$(dirname "$0")/.."

# program=package, as Debian names it
programs=(nginx=nginx-light node=nodejs curl=curl nghttp=nghttp2-client h2load=nghttp2-client gcc=build-essential)

missing() {
  for entry in "${programs[@]}"; do
    command -v "${entry%%=*}" >/dev/null || echo "${entry##*=}"
  done | sort -u
}

mapfile -t packages < <(missing)
if [ "${#packages[@]}" -gt 0 ]; then
  hack/debian-install.sh "${packages[@]}"
  mapfile -t packages < <(missing)
fi
if [ "${#packages[@]}" -gt 0 ]; then
  echo "Some programs that tests need are not on PATH. Install them (on Debian and Ubuntu: sudo apt-get install ${packages[*]})." >&2
  exit 1
fi
