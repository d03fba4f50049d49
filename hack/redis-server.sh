#!/usr/bin/env bash
# Copyright The Penstock Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Has a redis-server >= 7 for the tests: the one that REDIS_SERVER names, the one
# on PATH, or, as root on Debian, the distribution's package. The package's own
# service is not started: tests run servers of their own on private ports.
set -euo pipefail

server=${REDIS_SERVER:-redis-server}

major() { "$server" --version 2>/dev/null | sed -nE 's/.* v=([0-9]+)\..*/\1/p'; }

if [ -z "$(major)" ] && [ -z "${REDIS_SERVER:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "redis-server: installing the distribution's package"
  export DEBIAN_FRONTEND=noninteractive
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    # Debian starts a service as it installs it, unless this says no.
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    trap 'rm -f "$policy"' EXIT
  fi
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends redis-server >/dev/null
fi

found=$(major || true) # a server that is not there is said below
if [ -z "$found" ] || [ "$found" -lt 7 ]; then
  cat >&2 <<TXT
redis-server >= 7 is needed; $server is ${found:+of version }${found:-none}.
Install it (on Debian and Ubuntu: sudo apt-get install redis-server) or name it: REDIS_SERVER=/path/to/redis-server make test
TXT
  exit 1
fi
