#!/usr/bin/env bash
# Copyright The Penstock Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Checks that what is generated is current, in a copy, so that it neither needs
# nor leaves a changed work tree. Says which file differs and how to mend it.
set -euo pipefail
cd "$(dirname "$0")/.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  if [ -e "$file" ]; then printf '%s\0' "$file"; fi
done | tar --null -T - -cf - | tar -C "$copy" -xf -
cp -r "$copy" "$copy.before"
trap 'rm -rf "$copy" "$copy.before"' EXIT

make -s -C "$copy" generate
(cd "$copy" && go mod tidy)
for module in hack/*/go.mod hack/*/*/go.mod; do
  (cd "$copy/$(dirname "$module")" && go mod tidy)
done
unformatted=$(cd "$copy" && gofmt -l api cmd controllers hack internal test)
if [ -n "$unformatted" ]; then
  echo "not formatted; run gofmt -w on:" && echo "$unformatted"
  exit 1
fi
if ! diff -r "$copy.before" "$copy" >"$copy.diff"; then
  sed -n "1,60{s#$copy\.before#committed#;s#$copy#generated#;p}" "$copy.diff"
  rm -f "$copy.diff"
  echo "verify: generated files are not current; run: make generate && go mod tidy" >&2
  exit 1
fi
rm -f "$copy.diff"
echo "verify: generated files and modules are current"
