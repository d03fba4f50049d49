#!/usr/bin/env bash
# Copyright The Penstock Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Has a redis-server >= 7 for the tests: the one that REDIS_SERVER names, the one
# on PATH, or, as root on Debian, the distribution's package.
set -euo pipefail
cd "$(dirname "$0")/.."

server=${REDIS_SERVER:-redis-server}

major() { "$server" --version 2>/dev/null | sed -nE 's/.* v=([0-9]+)\..*/\1/p'; }

if [ -z "$(major)" ] && [ -z "${REDIS_SERVER:-}" ]; then
  hack/debian-install.sh redis-server
fi

found=$(major || true) # a server that is not there is said below
if [ -z "$found" ] || [ "$found" -lt 7 ]; then
  cat >&2 <<TXT
redis-server >= 7 is needed; $server is ${found:+of version }${found:-none}.
Install it (on Debian and Ubuntu: sudo apt-get install redis-server) or name it: REDIS_SERVER=/path/to/redis-server make test
TXT
  exit 1
fi
